"""From campaigns in order to a history: the values of each, and where their level changes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from runoff.analysis.common import (
    EXPECTED,
    describe_arm,
    describe_campaign,
    describe_metric,
    describe_voids,
    find_control,
    find_possible_control,
    list_differences,
    refuse_other_engines,
)
from runoff.analysis.labels import shorten_labels
from runoff.errors import UsageError
from runoff.history.machines import group_campaigns, name_machines, warn_of_machines
from runoff.history.subjects import Subject, Wanted, list_subjects, take_subject
from runoff.history.values import Change, Difference, Entry, History, Order, Place, Series
from runoff.report.words.cpu_limits import describe_limits
from runoff.results import Direction, Results
from runoff.statistics import Interval, Summary, Verdict
from runoff.statistics.change_points import ChangePoint, count_least_values, find_change_points
from runoff.statistics.describe import summarise
from runoff.statistics.level import critical
from runoff.statistics.unpaired import compare_means

ALPHA = 0.05
"""How often a history in which nothing changes shows a change, in any of its series."""
FEWEST = 2
"""Campaigns of a history."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """Campaigns and their places, in order and by name."""

    campaigns: Mapping[str, Results]
    places: Mapping[str, Place]
    order: Order
    warnings: Sequence[str] = ()


def make_history(ordered: Ordered, wanted: Wanted, rerun: str = "") -> History:
    """Return the history; ``rerun`` is the command that makes it again.

    Raises UsageError where there is nothing to draw, MissingError without the library that finds changes.
    """
    campaigns = {name: ordered.campaigns[name] for name in ordered.places}
    if len(campaigns) < FEWEST:
        raise UsageError("a history is of several campaigns: give at least two directories")
    refuse_other_engines(campaigns)
    control = find_control(campaigns, wanted.control)
    machines = name_machines(campaigns)
    places = {name: replace(place, machine=machines.get(name, "")) for name, place in ordered.places.items()}
    groups = group_campaigns(machines) or {"": list(campaigns)}
    taken = [
        _Taken(each, machine, {name: values[name] for name in names if name in values}, names)
        for each in list_subjects(campaigns, control, wanted)
        for values in [take_subject(campaigns, each, control)]
        for machine, names in groups.items()
    ]
    shown = [each for each in taken if len(each.values) >= FEWEST]
    if not shown:
        raise UsageError("no two of the campaigns have valid samples of the same metric, arm and workload")
    first = next(iter(campaigns.values()))
    source = _Source(campaigns, places, control)
    headings = _list_headings(shown)
    return History(
        places=tuple(places.values()),
        order=ordered.order,
        control=control,
        engine=f"{first.engine}, {first.clock} clock",
        series=tuple(
            _make_series(source, each, heading, ALPHA / len(shown))
            for each, heading in zip(shown, headings, strict=True)
        ),
        warnings=(
            *_warn(campaigns, control, wanted, ordered.warnings),
            *warn_of_machines(machines),
            *describe_voids(campaigns),
            *describe_limits(_pool(campaigns)),
        ),
        rerun=rerun,
    )


@dataclass(frozen=True, slots=True)
class _Taken:
    """The values of a subject by campaign, of one machine or of all."""

    subject: Subject
    machine: str
    """Empty where it is of all campaigns."""
    values: Mapping[str, Sequence[float]]
    campaigns: Sequence[str]
    """Campaigns that it is about, in their order."""


@dataclass(frozen=True, slots=True)
class _Source:
    """What all series are made of."""

    campaigns: Mapping[str, Results]
    places: Mapping[str, Place]
    control: str | None

    def list_differences(self, subject: Subject, before: str, after: str) -> tuple[Difference, ...]:
        """Return what is not the same in two campaigns."""
        facts = {name: self._list_facts(subject, name) for name in (before, after)}
        return tuple(Difference(fact, values[before], values[after]) for fact, values in list_differences(facts))

    def _list_facts(self, subject: Subject, name: str) -> dict[str, str]:
        """Return all that is known of what the samples of a campaign were taken with."""
        results = self.campaigns[name]
        own = describe_arm(results, subject.arms[name])
        facts = {f"{subject.label or 'arm'}.{key}": value for key, value in own.items()}
        if self.control is not None:
            facts |= {f"{self.control}.{key}": value for key, value in describe_arm(results, self.control).items()}
        campaign = describe_campaign(results).items()
        return facts | {key: value for key, value in campaign if not key.startswith(EXPECTED)}


def _list_headings(taken: Sequence[_Taken]) -> list[str]:
    """Return the work, the arm and the machine of each, as short as they are told apart."""
    subjects = [each.subject for each in taken]
    names = shorten_labels([subject.work.workload for subject in subjects])
    loads = len({subject.work.load for subject in subjects})
    works = [names[subject.work.workload] + subject.work.suffix(loads) for subject in subjects]
    return [
        ", ".join(filter(None, [work, each.subject.label])) + (f" on {each.machine}" if each.machine else "")
        for work, each in zip(works, taken, strict=True)
    ]


def _make_series(source: _Source, taken: _Taken, heading: str, alpha: float) -> Series:
    subject, values = taken.subject, taken.values
    names = [name for name in taken.campaigns if name in values]
    rules = {name: source.campaigns[name].stopping.rule for name in names}
    entries = tuple(
        Entry(source.places[name], summarise(name, values[name], ALPHA, rule=rules[name])) for name in names
    )
    is_relative = all(entry.summary.geometric_mean is not None for entry in entries)
    levels = [_find_level(entry.summary, is_relative=is_relative) for entry in entries]
    points = find_change_points(levels, alpha)
    edges = [0, *(point.first for point in points), len(levels)]
    changes = (
        _make_change(
            point,
            (levels[start : point.first], levels[point.first : end]),
            subject.metric.direction,
            source.list_differences(subject, names[point.first - 1], names[point.first]),
        )
        for start, point, end in zip(edges, points, edges[2:], strict=False)
    )
    return Series(
        heading=heading,
        metric=describe_metric(subject.metric, source.control),
        is_relative=is_relative,
        entries=entries,
        changes=tuple(changes),
        left_out=tuple(name for name in taken.campaigns if name not in values),
        least=count_least_values(alpha),
    )


def _find_level(summary: Summary, *, is_relative: bool) -> float:
    if is_relative and summary.geometric_mean is not None:
        return math.log(summary.geometric_mean)
    return summary.mean


def _make_change(
    point: ChangePoint,
    levels: tuple[Sequence[float], Sequence[float]],
    direction: Direction,
    differences: tuple[Difference, ...],
) -> Change:
    before, after = map(np.array, levels)
    scale = max(map(abs, (*before, *after))) or 1.0
    found = compare_means(before, after, scale)
    half = critical(ALPHA, 1, found.df) * found.error if found.error else 0.0
    is_better = (found.difference < 0) == (direction == "lower")
    return Change(
        first=point.first,
        p=point.p,
        size=found.difference,
        interval=Interval(found.difference - half, found.difference + half),
        verdict=None if direction == "none" else Verdict.BETTER if is_better else Verdict.WORSE,
        differences=differences,
    )


def _pool(campaigns: Mapping[str, Results]) -> Results:
    """Return the samples of all, as if one campaign had taken them."""
    every = campaigns.values()
    return replace(
        next(iter(every)),
        arms=tuple(dict.fromkeys(arm for results in every for arm in results.arms)),
        loads=tuple(dict.fromkeys(load for results in every for load in results.loads)),
        samples=tuple(sample for results in every for sample in results.samples),
    )


def _warn(
    campaigns: Mapping[str, Results], control: str | None, wanted: Wanted, warnings: Sequence[str]
) -> Iterator[str]:
    yield from warnings
    if control is not None:
        return
    possible = find_possible_control(campaigns) if wanted.control is None else None
    way = f"; as runs are in no blocks, only --control {possible} makes it one" if possible else ""
    yield f"there is no control: what changed on the machine between campaigns looks like a change of the arm{way}"
