"""From campaigns in order to a history: the values of each, and where their level changes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runoff.analysis.common import (
    EXPECTED,
    describe_arm,
    describe_campaign,
    describe_metric,
    find_control,
    refuse_other_engines,
)
from runoff.analysis.labels import shorten_labels
from runoff.errors import UsageError
from runoff.history.subjects import Subject, Wanted, list_subjects, take_subject
from runoff.history.values import Change, Difference, Entry, History, Order, Place, Series
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
    taken = [(each, take_subject(campaigns, each, control)) for each in list_subjects(campaigns, control, wanted)]
    shown = [(subject, values) for subject, values in taken if len(values) >= FEWEST]
    if not shown:
        raise UsageError("no two of the campaigns have valid samples of the same metric, arm and workload")
    first = next(iter(campaigns.values()))
    loads = len({subject.work.load for subject, _ in shown})
    names = shorten_labels([subject.work.workload for subject, _ in shown])
    return History(
        places=tuple(ordered.places.values()),
        order=ordered.order,
        control=control,
        engine=f"{first.engine}, {first.clock} clock",
        series=tuple(
            _make_series(
                campaigns,
                ordered.places,
                subject,
                values,
                control,
                ALPHA / len(shown),
                heading=", ".join(
                    filter(None, [names[subject.work.workload] + subject.work.suffix(loads), subject.label])
                ),
            )
            for subject, values in shown
        ),
        warnings=tuple(_warn(control, ordered.warnings)),
        rerun=rerun,
    )


def _make_series(
    campaigns: Mapping[str, Results],
    places: Mapping[str, Place],
    subject: Subject,
    values: Mapping[str, Sequence[float]],
    control: str | None,
    alpha: float,
    heading: str,
) -> Series:
    names = [name for name in places if name in values]
    entries = tuple(Entry(places[name], summarise(name, values[name], ALPHA)) for name in names)
    is_relative = all(entry.summary.geometric_mean is not None for entry in entries)
    levels = [_find_level(entry.summary, is_relative=is_relative) for entry in entries]

    def differ(first: int) -> tuple[Difference, ...]:
        before, after = (_list_facts(campaigns[name], subject, name, control) for name in names[first - 1 :][:2])
        return tuple(_list_differences(before, after))

    points = find_change_points(levels, alpha)
    edges = [0, *(point.first for point in points), len(levels)]
    changes = (
        _make_change(point, levels[start : point.first], levels[point.first : end], subject.metric.direction, differ)
        for start, point, end in zip(edges, points, edges[2:], strict=False)
    )
    return Series(
        heading=heading,
        metric=describe_metric(subject.metric, control),
        is_relative=is_relative,
        entries=entries,
        changes=tuple(changes),
        left_out=tuple(name for name in places if name not in values),
        least=count_least_values(alpha),
    )


def _find_level(summary: Summary, *, is_relative: bool) -> float:
    if is_relative and summary.geometric_mean is not None:
        return math.log(summary.geometric_mean)
    return summary.mean


def _make_change(
    point: ChangePoint,
    before: Sequence[float],
    after: Sequence[float],
    direction: Direction,
    differ: Callable[[int], tuple[Difference, ...]],
) -> Change:
    scale = max(map(abs, (*before, *after))) or 1.0
    found = compare_means(np.array(before), np.array(after), scale)
    half = critical(ALPHA, 1, found.df) * found.error if found.error else 0.0
    is_better = (found.difference < 0) == (direction == "lower")
    return Change(
        first=point.first,
        p=point.p,
        size=found.difference,
        interval=Interval(found.difference - half, found.difference + half),
        verdict=None if direction == "none" else Verdict.BETTER if is_better else Verdict.WORSE,
        differences=differ(point.first),
    )


def _list_facts(results: Results, subject: Subject, name: str, control: str | None) -> dict[str, str]:
    """Return all that is known of what the samples of a campaign were taken with."""
    own = describe_arm(results, subject.arms[name])
    facts = {f"{subject.label or 'arm'}.{key}": value for key, value in own.items()}
    if control is not None:
        facts |= {f"{control}.{key}": value for key, value in describe_arm(results, control).items()}
    return facts | {key: value for key, value in describe_campaign(results).items() if not key.startswith(EXPECTED)}


def _list_differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for key in dict.fromkeys([*before, *after]):
        pair = before.get(key, "unknown"), after.get(key, "unknown")
        if pair[0] != pair[1]:
            yield Difference(key, *pair)


def _warn(control: str | None, warnings: Sequence[str]) -> Iterator[str]:
    yield from warnings
    if control is None:
        yield "there is no control: what changed on the machine between campaigns looks like a change of the arm"
