"""A report's comparisons next to those of a campaign of today: their directions then and now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from runoff.analysis import build
from runoff.analysis.table import Table
from runoff.analysis.values import Report as Campaign
from runoff.errors import UsageError
from runoff.published.catalogue import Report, find
from runoff.published.cells import Cell, find_cell, find_cells
from runoff.published.numbers import Quantity
from runoff.published.replication import Comparisons, Pair, Part
from runoff.report.historic.relative import Label
from runoff.results import NO_LOAD, Results
from runoff.statistics import Verdict
from runoff.statistics.values import DEFAULT_MARGIN, Comparison, Interval
from runoff.text import suggest

MARGIN_PCT = 100 * DEFAULT_MARGIN


class Outcome(StrEnum):
    """Whether the published direction is the present one."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    CANNOT_TELL = "cannot tell"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class PresentResult:
    """The result of a campaign of today."""

    workload: str
    load: str
    n: int
    """Valid samples of the arm that has fewer."""
    percent: float | None
    interval: Interval | None
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """One published comparison, then and now."""

    title: str
    pair: str
    row: str
    then: Quantity
    """Published change of the time in percent: below zero is faster."""
    now: PresentResult | None
    outcome: Outcome

    @property
    def same_size(self) -> bool:
        """Whether the published change, as it was printed, is in the present interval."""
        interval = self.now.interval if self.now is not None else None
        return interval is not None and interval.low <= self.then.high and self.then.low <= interval.high


@dataclass(frozen=True)
class PresentCampaign:
    """A campaign whose results can be seen against any of its arms."""

    results: Results

    @cached_property
    def _reports(self) -> dict[str, Campaign]:
        return {}

    def analyse_against(self, base: str) -> Campaign | None:
        """Return the campaign's report with ``base`` as the baseline; None without that arm."""
        arms = self.results.arms
        if base not in arms:
            return None
        if base not in self._reports:
            ordered = (base, *(arm for arm in arms if arm != base))
            self._reports[base] = build.build_report(replace(self.results, arms=ordered, repeats={}))
        return self._reports[base]


def compare(report: Report, part: Part, today: PresentCampaign | None) -> list[ComparedPair]:
    """Return all comparisons of ``part``; without a campaign none of them has a present side."""
    return [one for comparisons in part.comparisons for one in _compare(report, comparisons, today)]


def _compare(report: Report, about: Comparisons, today: PresentCampaign | None) -> Iterator[ComparedPair]:
    tables = {name: table.rows for name, table in report.tables.items()}
    for pair in about.pairs:
        for place in find_cells(tables, about.rows):
            then = _find_then(report, about, pair, place)
            row = place.row if about.loads == {} else place.table
            found: list[PresentResult | None] = [*_find_now(about, pair, place, today)] if today is not None else []
            for now in found or [None]:
                yield ComparedPair(about.title, pair.label, row, then, now, judge(then, now))


def _find_then(report: Report, about: Comparisons, pair: Pair, place: Cell) -> Quantity:
    tables = {name: table.rows for name, table in report.tables.items()}
    hundred, one = Quantity.exactly(100), Quantity.exactly(1)
    other = find_cell(tables, _fill(pair.other, place)).quantity
    if about.unit == "time":
        other = other / find_cell(tables, _fill(pair.base, place)).quantity
    return hundred * (other - one)


def _fill(text: str, place: Cell) -> str:
    return text.replace("{table}", place.table).replace("{row}", place.row)


def _find_now(about: Comparisons, pair: Pair, place: Cell, today: PresentCampaign) -> Iterator[PresentResult]:
    campaign, arm = today.analyse_against(pair.base_arm), find_other_arm(about, pair, place)
    if campaign is None or arm not in campaign.results.arms:
        return
    for table in campaign.tables:
        if table.metric.name == about.metric and _is_counterpart(campaign, table, about, place):
            yield _make_result(table, pair.base_arm, arm)


def find_other_arm(about: Comparisons, pair: Pair, place: Cell) -> str:
    """Return the present arm that is compared with the base of ``pair``; empty if a row has none."""
    return about.arms.get(place.row, "") if pair.other_arm == "{arm}" else pair.other_arm


def _is_counterpart(campaign: Campaign, table: Table, about: Comparisons, place: Cell) -> bool:
    label = Label.from_text(table.workload)
    values = {**campaign.results.parameters.get(table.workload, {}), **label.parameters}
    wanted = {key: _fill(value, place) for key, value in about.parameters.items()}
    load = about.loads.get(place.table, NO_LOAD)
    return (
        label.name == about.workload
        and all(values.get(key) == value for key, value in wanted.items())
        and (table.load or NO_LOAD).partition(":")[0] == load
    )


def _make_result(table: Table, base: str, arm: str) -> PresentResult:
    summaries = table.analysis.summaries
    runs = [summaries[one].n if one in summaries else 0 for one in (base, arm)]
    found: Comparison = table.analysis.comparisons[arm]
    return PresentResult(table.workload, table.load, min(runs), found.percent, found.percent_interval, found.verdict)


def judge(then: Quantity, now: PresentResult | None) -> Outcome:
    """Judge a pair: open if it is unclear now, or was too small then to be distinguished from zero."""
    if now is None:
        return Outcome.NOT_RUN
    if now.verdict is Verdict.SAME:
        return _judge_same(then, now.interval)
    if now.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return Outcome.CANNOT_TELL
    if then.value == 0:
        # Equal as printed: whether there was a difference depends on digits that were not printed.
        is_beyond = now.interval is not None and (now.interval.low > then.high or now.interval.high < then.low)
        return Outcome.NOT_REPRODUCED if is_beyond else Outcome.CANNOT_TELL
    faster = now.verdict is Verdict.BETTER
    return Outcome.REPRODUCED if (then.value < 0) == faster else Outcome.NOT_REPRODUCED


def _judge_same(then: Quantity, interval: Interval | None) -> Outcome:
    """Judge a pair that is within the margin now: reproduced if it was equal, not if it was beyond the margin."""
    if then.value == 0:
        return Outcome.REPRODUCED
    if min(abs(then.low), abs(then.high)) > MARGIN_PCT:
        return Outcome.NOT_REPRODUCED
    if interval is None or interval.low <= 0 <= interval.high:
        return Outcome.CANNOT_TELL
    return Outcome.REPRODUCED if (then.value < 0) == (interval.high < 0) else Outcome.NOT_REPRODUCED


def count_outcomes(found: Sequence[ComparedPair]) -> dict[Outcome, int]:
    """Return the number of comparisons with each outcome."""
    return {outcome: sum(one.outcome is outcome for one in found) for outcome in Outcome}


def has_answers(found: Sequence[ComparedPair]) -> bool:
    """Return whether anything was reproduced, or not."""
    return any(one.outcome in (Outcome.REPRODUCED, Outcome.NOT_REPRODUCED) for one in found)


def find_parts(name: str, plans: Sequence[str]) -> tuple[Report, tuple[Part, ...]]:
    """Return a report and its parts with these plans, all parts if none is named. Raises UsageError."""
    report, table = find(name)
    if table is not None:
        raise UsageError(f"{name}: a report is repeated as a whole, so leave the table out")
    known = {part.plan: part for part in report.about.parts}
    if not known:
        raise UsageError(f"{report.name} has no plan: add [[parts]] to its report.toml")
    for plan in plans:
        if plan not in known:
            raise UsageError(f"{report.name} has no plan {plan!r}{suggest(plan, known)}")
    return report, tuple(part for plan, part in known.items() if not plans or plan in plans)


def match_campaigns(wanted: Sequence[Part], results: Sequence[Results]) -> dict[str, PresentCampaign]:
    """Return each campaign by the plan whose comparisons it has. Raises UsageError for one that has none."""
    found: dict[str, PresentCampaign] = {}
    for one in results:
        plan = next((part.plan for part in wanted if _is_campaign_of(part, one)), None)
        if plan is None:
            names, arms = ", ".join(part.plan for part in wanted), ", ".join(one.arms)
            raise UsageError(f"{arms} on {', '.join(one.workloads)}: this campaign has no comparison of {names}")
        if plan in found:
            raise UsageError(f"two campaigns have comparisons of {plan}: give one --from for each plan")
        found[plan] = PresentCampaign(one)
    return found


def _is_campaign_of(part: Part, results: Results) -> bool:
    workloads = {Label.from_text(label).name for label in results.workloads}
    return any(
        about.workload in workloads
        and pair.base_arm in results.arms
        and {*about.arms.values(), pair.other_arm} & others
        for about in part.comparisons
        for pair in about.pairs
        if (others := {*results.arms} - {pair.base_arm})
    )
