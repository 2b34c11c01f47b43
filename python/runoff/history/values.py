"""What a history says, as values that its views show."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, geometric_mean
from typing import Literal

from runoff.results import Metric
from runoff.statistics import Interval, Summary, Verdict

Order = Literal["dates", "commits", "given"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a campaign stands in a history."""

    campaign: str
    """Name of the campaign."""
    day: str = ""
    """ISO 8601, of its first sample; empty if it is not known."""
    commit: str = ""
    """Short id of the commit that its name is; empty where campaigns are not in the order of commits."""
    machine: str = ""
    """Name of the machine that took it, where there are several; empty where the machine is not a factor."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one campaign has found."""

    place: Place
    summary: Summary
    """Moments of its samples, or of their multiples of the control's."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that is not the same in the last campaign before a change and in the first one after it."""

    fact: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """From one campaign on, the level is another."""

    first: int
    """Index of the first entry after it."""
    p: float
    """How often the same values in a random order show as clear a change."""
    size: float
    """Mean level after it less that before it: of logarithms where the series is relative."""
    interval: Interval | None
    """The 95 % interval of ``size``, if the change is where it is said to be."""
    verdict: Verdict | None
    """None where no side is better."""
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one arm under one work."""

    heading: str
    """The work and the arm."""
    metric: Metric
    is_relative: bool
    """Whether all values are positive: then means are geometric, and changes are ratios."""
    entries: tuple[Entry, ...]
    changes: tuple[Change, ...]
    left_out: tuple[str, ...]
    """Campaigns that have no valid sample of this."""
    least: int
    """Fewer entries than this cannot show a change."""

    def find_centre(self, entry: Entry) -> tuple[float, Interval | None]:
        """Return the mean of an entry, and its 95 % interval."""
        summary = entry.summary
        if self.is_relative and summary.geometric_mean is not None:
            return summary.geometric_mean, summary.geometric_ci
        return summary.mean, summary.ci

    def find_level(self, start: int, end: int) -> float:
        """Return the mean of the campaigns ``start`` to ``end``, which count alike."""
        means = [self.find_centre(entry)[0] for entry in self.entries[start:end]]
        return geometric_mean(means) if self.is_relative else fmean(means)

    @property
    def stretches(self) -> Iterator[tuple[int, int]]:
        """The entries of each level: the first one's index, and the one after the last."""
        return pairwise([0, *(change.first for change in self.changes), len(self.entries)])


@dataclass(frozen=True, slots=True)
class History:
    """Campaigns in order, and what they have measured."""

    places: tuple[Place, ...]
    order: Order
    control: str | None
    """The arm that others are multiples of."""
    engine: str
    series: tuple[Series, ...]
    warnings: tuple[str, ...]
    rerun: str
