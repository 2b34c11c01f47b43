"""Reasons to doubt a campaign as a whole, in values; ``runoff.report.words.campaign_warnings`` has the sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runoff.analysis.cpu_limits import ExceededQuota, IgnoredLimits, LimitedWork, UnwatchedGroups, find_limits
from runoff.analysis.first_run import UnlikeFirstRun, find_unlike_first_runs
from runoff.analysis.real_time import RealTimeThreads, find_real_time
from runoff.analysis.table import Lost, Table
from runoff.results import PROBE_COST, Results, Stopping
from runoff.statistics import Verdict


@dataclass(frozen=True, slots=True)
class RecordedWarning:
    """What the campaign or its engine wrote down when samples were taken."""

    text: str
    """A sentence."""


@dataclass(frozen=True, slots=True)
class EarlierLooks:
    """Blocks were taken after earlier ones had been looked at, so that intervals are those of the sequential rule."""

    stopping: Stopping
    members: tuple[str, ...]
    """Machines or campaigns that were stopped so; empty for the campaign itself."""


@dataclass(frozen=True, slots=True)
class UnfinishedCampaign:
    """Samples of the plan are still to be taken."""


@dataclass(frozen=True, slots=True)
class VoidArm:
    """No sample of an arm is valid."""

    arm: str
    void: int
    """How many samples it has."""


@dataclass(frozen=True, slots=True)
class ManyVoids:
    """A large share of an arm's samples is void, and those left may be the lucky ones."""

    arm: str
    lost: Mapping[str, Lost]
    """By place, of the metric that lost most."""


@dataclass(frozen=True, slots=True)
class MissingValues:
    """Valid samples have no value of a headline metric."""

    place: str
    title: str
    """Title of the metric."""
    samples: int


@dataclass(frozen=True, slots=True)
class ActiveProbes:
    """Probes took part in the samples."""

    percent: float
    """The most of one CPU that they took in any arm and place."""
    arm: str
    place: str


CampaignWarning = (
    RecordedWarning
    | LimitedWork
    | UnwatchedGroups
    | IgnoredLimits
    | ExceededQuota
    | RealTimeThreads
    | EarlierLooks
    | UnfinishedCampaign
    | VoidArm
    | ManyVoids
    | MissingValues
    | ActiveProbes
    | UnlikeFirstRun
)


def find_warnings(results: Results, tables: Sequence[Table]) -> Iterator[CampaignWarning]:
    """Yield all that apply, in the order in which they are shown."""
    yield from map(RecordedWarning, results.changes)
    yield from find_limits(results)
    yield from find_real_time(results)
    yield from find_unlike_first_runs(results, tables)
    yield from _find_looks(results)
    if len(results.samples) < results.planned:
        yield UnfinishedCampaign()
    for arm in results.arms:
        yield from _check_voids(results, tables, arm)
    for table in tables:
        yield from _check_values(results, table)
    yield from _check_probes(tables)
    yield from map(RecordedWarning, results.warnings)


def _find_looks(results: Results) -> Iterator[CampaignWarning]:
    """Yield what is to be told of each way in which members were stopped, or of the campaign itself."""
    members: dict[Stopping, list[str]] = {}
    for name, stopping in results.members.items():
        members.setdefault(stopping, []).append(name)
    for stopping, names in (members or {results.stopping: []}).items():
        if stopping.ended is not None or stopping.looks or (members and stopping.until is not None):
            yield EarlierLooks(stopping, tuple(names))


def _check_voids(results: Results, tables: Sequence[Table], arm: str) -> Iterator[CampaignWarning]:
    mine = [sample for sample in results.judged_samples if sample.arm == arm]
    void = sum(not sample.valid for sample in mine)
    if mine and void == len(mine):
        yield VoidArm(arm, void)
        return
    left = [table for table in tables if arm in table.analysis.summaries]
    lost: dict[str, Lost] = {}
    for table in left:
        found = table.find_selection(arm)
        if found is not None and (table.metric.headline or not found.unmeasured):
            lost[table.place] = max(found, lost.get(table.place, found), key=lambda each: each.count)
    if lost:
        yield ManyVoids(arm, lost)


def _check_values(results: Results, table: Table) -> Iterator[CampaignWarning]:
    mine = [s for s in results.judged_samples if s.valid and (s.workload, s.load) == (table.workload, table.load)]
    compared = {arm for arm, each in table.analysis.comparisons.items() if each.verdict is not Verdict.ABSENT}
    missing = sum(table.metric.name not in sample.metrics for sample in mine if sample.arm in compared)
    if missing and table.metric.headline:
        yield MissingValues(table.place, table.metric.title, missing)


def _check_probes(tables: Sequence[Table]) -> Iterator[CampaignWarning]:
    cost = [
        (summary.mean, arm, table.place)
        for table in tables
        if table.metric.name == PROBE_COST
        for arm, summary in table.analysis.summaries.items()
    ]
    if cost:
        yield ActiveProbes(*max(cost))
