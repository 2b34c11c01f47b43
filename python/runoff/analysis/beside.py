"""Campaigns that were taken at different times, side by side: each is an arm.

An arm that all of them have is the control: what is compared are the other arms as multiples of it, block by block, so
that a machine that has become slower meanwhile changes nothing. Between campaigns runs are in no blocks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runoff.analysis.common import (
    EXPECTED,
    Taken,
    describe_arm,
    describe_campaign,
    describe_metric,
    find_control,
    get_first,
    list_differences,
    refuse_other_engines,
    take_values,
)
from runoff.analysis.environment import PER_ARM
from runoff.errors import UsageError
from runoff.results import Metric, Results, Sample, Stopping
from runoff.version import __version__

MOST_DIFFERENCES = 6
"""Facts that differ between campaigns and are told one by one."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is compared."""

    label: str
    """Empty if it is the only one."""
    arms: Mapping[str, str]
    """The arm that stands for it in each campaign, by name."""


def lay_beside(campaigns: Mapping[str, Results], control: str | None = None, rerun: str = "") -> Results:
    """Return the results whose arms are ``campaigns``, by name; the first is the baseline.

    ``control`` is an arm of all of them, or ``NO_CONTROL``; without it the first arm of the first campaign is, if all
    have it beside another. ``rerun`` is the command that lays them beside each other. Raises UsageError where they have
    nothing in common.
    """
    refuse_other_engines(campaigns)
    found = find_control(campaigns, control)
    subjects = _find_subjects(campaigns, found)
    first = next(iter(campaigns.values()))
    samples: list[Sample] = []
    metrics: dict[str, tuple[Metric, ...]] = {}
    for workload, load in _find_works(campaigns):
        shared = _find_metrics(campaigns, workload)
        for subject in subjects:
            label = f"{workload}, {subject.label}" if subject.label else workload
            metrics[label] = tuple(describe_metric(metric, found) for metric in shared)
            for name, results in campaigns.items():
                own = take_values(results, (workload, load), subject.arms[name], found, shared)
                samples += _number(own, name, label, load, len(samples))
    if not any(sample.valid for sample in samples):
        raise UsageError("the campaigns share no workload with valid samples, so there is nothing to compare")
    return replace(
        first,
        seed=0,
        blocks=max(sample.block for sample in samples) + 1,
        arms=tuple(campaigns),
        workloads=tuple(metrics),
        loads=tuple(dict.fromkeys(sample.load for sample in samples)),
        metrics=metrics,
        samples=tuple(samples),
        planned=len(samples) + sum(max(0, each.planned - len(each.samples)) for each in campaigns.values()),
        is_paired=False,
        parameters={},
        twins={},
        descriptions=replace(first.descriptions, arms={}),
        fingerprint={PER_ARM: {name: describe_campaign(results) for name, results in campaigns.items()}},
        warnings=tuple(_warn(campaigns, subjects, found)),
        changes=(),
        rerun=rerun,
        plan_text="",
        version=__version__,
        requests={},
        repeats={},
        seconds_per_block=None,
        stopping=Stopping(),
        members={name: results.stopping for name, results in campaigns.items()},
    )


def _find_subjects(campaigns: Mapping[str, Results], control: str | None) -> list[_Subject]:
    """Return the arms that all have, or else the only one that each has, beside the control."""
    others = {name: [arm for arm in results.arms if arm != control] for name, results in campaigns.items()}
    common = [arm for arm in next(iter(others.values())) if all(arm in arms for arms in others.values())]
    if not common and all(len(arms) == 1 for arms in others.values()):
        return [_Subject("", {name: arm for name, (arm,) in others.items()})]
    if not common:
        beside = f" beside {control}" if control else ""
        lists = "; ".join(f"{name} has {', '.join(arms) or 'none'}" for name, arms in others.items())
        raise UsageError(f"the campaigns have no arm in common{beside}, so nothing says what to compare: {lists}")
    only = len(common) == 1
    return [_Subject("" if only else arm, dict.fromkeys(campaigns, arm)) for arm in common]


def _find_works(campaigns: Mapping[str, Results]) -> list[tuple[str, str]]:
    every = [{(sample.workload, sample.load) for sample in each.judged_samples} for each in campaigns.values()]
    first = get_first(campaigns)
    shared = set.intersection(*every)
    return [(work, load) for work in first.workloads for load in first.loads if (work, load) in shared]


def _find_metrics(campaigns: Mapping[str, Results], workload: str) -> list[Metric]:
    others = [{(m.name, m.unit, m.direction) for m in each.metrics[workload]} for each in campaigns.values()]
    own = get_first(campaigns).metrics[workload]
    return [m for m in own if all((m.name, m.unit, m.direction) in known for known in others)]


def _number(runs: Iterator[Taken], name: str, workload: str, load: str, position: int) -> Iterator[Sample]:
    for number, run in enumerate(runs):
        place = position + number
        yield Sample(
            f"{name}.{place}",
            block=number,
            position=place,
            arm=name,
            workload=workload,
            load=load,
            valid=run.why_void is None,
            reason=run.why_void,
            metrics=run.values,
            cpu_limits=run.limits,
        )


def _warn(campaigns: Mapping[str, Results], subjects: Sequence[_Subject], control: str | None) -> Iterator[str]:
    """Yield what a reader has to know of a comparison between campaigns."""
    if control is None:
        yield "the campaigns have no control: what changed on the machine between them looks like a difference"
    for subject in subjects:
        if len(set(subject.arms.values())) > 1:
            places = ", ".join(f"{arm} in {name}" for name, arm in subject.arms.items())
            yield f"what is compared is {places}"
    if control is not None:
        own = {name: describe_arm(results, control) for name, results in campaigns.items()}
        for key, values in list_differences(own):
            yield f"the control {control} is not the same: {key} is {_list_values(values)}"
    described = {name: describe_campaign(results) for name, results in campaigns.items()}
    differing = [found for found in list_differences(described) if not found[0].startswith(EXPECTED)]
    yield from (f"{key} differs: {_list_values(values)}" for key, values in differing[:MOST_DIFFERENCES])
    if len(differing) > MOST_DIFFERENCES:
        yield f"{len(differing) - MOST_DIFFERENCES} more facts differ: the page has them (Environment)"


def _list_values(values: Mapping[str, str]) -> str:
    return ", ".join(f"{value} ({name})" for name, value in values.items())
