"""One metric of one workload with one load, over all arms."""

import re
from dataclasses import dataclass, replace

from runoff.results import Metric, Sample
from runoff.statistics import Analysis, Interval

PERCENTILE = re.compile(r"(?:^|_)p\d+(?:_|$)")
"""What the name of a metric has if it is a percentile."""

MANY_VOIDS = 0.05
"""Above this share of voids the valid rest of an arm may be a selection: one that loses its slowest 7 % is called
better in 6.4 % of tables of 10 blocks where nothing differs, one that loses 16 % in 8 to 12 %."""


@dataclass(frozen=True, slots=True)
class Point:
    """One valid sample's value of a table's metric."""

    arm: str
    block: int
    position: int
    value: float
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One metric of one workload beside one load, all arms."""

    workload: str
    load: str
    metric: Metric
    analysis: Analysis
    points: tuple[Point, ...]
    """In run order."""
    voids: tuple[Sample, ...]
    """Void samples of the same workload and load, in run order."""
    arms: tuple[str, ...]
    """In the order of the rows: best mean first, arms without a valid sample last."""
    place: str
    """The workload, and the load it ran beside unless there is only one."""
    short_place: str
    """The workload with as little of the workload's parameters as tells it from the others."""
    lacking: frozenset[str] = frozenset()
    """Arms whose samples are valid and have not this metric."""
    has_geometric_means: bool = False
    """Whether means are geometric, as the changes are, since arithmetic ones would contradict these."""

    @property
    def is_percentile(self) -> bool:
        """Whether the metric is a percentile of many events of a sample: the mean of several is none, so that the
        median over the samples is shown beside it."""
        return bool(PERCENTILE.search(self.metric.name))

    @property
    def is_judged(self) -> bool:
        """Whether arms get a verdict here."""
        return self.metric.direction != "none" and len(self.analysis.comparisons) > 1

    def select_machine(self, machine: str) -> "Table":
        """Return the table of one machine of a campaign on several."""
        return replace(
            self,
            analysis=self.analysis.machines[machine],
            points=tuple(point for point in self.points if point.machine == machine),
            voids=tuple(sample for sample in self.voids if sample.machine == machine),
        )

    def find_centre(self, arm: str) -> tuple[float, Interval | None] | None:
        """Return the mean of the valid samples of ``arm``, the geometric one where the table has those, and its
        interval; None without a sample."""
        summary = self.analysis.summaries.get(arm)
        if summary is None:
            return None
        if self.has_geometric_means and summary.geometric_mean is not None:
            return summary.geometric_mean, summary.geometric_ci
        return summary.mean, summary.ci

    def find_mean(self, arm: str) -> float | None:
        """Return the mean of the valid samples of ``arm``; None without one."""
        summary = self.analysis.summaries.get(arm)
        return None if summary is None else summary.mean

    def count_voids(self, arm: str) -> int:
        """Return how many samples of ``arm`` are void here."""
        return sum(sample.arm == arm for sample in self.voids)

    def count_lost(self, arm: str) -> tuple[int, int] | None:
        """Return how many samples of ``arm`` are void here, of how many; None if that is too few to matter."""
        void = self.count_voids(arm)
        taken = void + len({point.block for point in self.points if point.arm == arm})
        return (void, taken) if void > MANY_VOIDS * taken else None
