"""One metric of one workload with one load, over all arms."""

import re
from dataclasses import dataclass, replace

from runoff.analysis.heaps import Heaps, find_heaps
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
class Lost:
    """Samples of one arm that say nothing of a metric."""

    void: int
    unmeasured: int
    """Valid samples without a value of the metric."""
    taken: int
    """All that were taken."""

    @property
    def count(self) -> int:
        """How many they are."""
        return self.void + self.unmeasured

    @property
    def share(self) -> float:
        """The share of all that were taken."""
        return self.count / self.taken


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
    unmeasured: tuple[Sample, ...] = ()
    """Valid samples without a value of the metric."""
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
            unmeasured=tuple(sample for sample in self.unmeasured if sample.machine == machine),
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

    def find_heaps(self, arm: str) -> Heaps | None:
        """Return the two heaps that the values of ``arm`` fall into; None where they do not, and over machines, which
        differ in speed."""
        if self.analysis.machines:
            return None
        return find_heaps([point.value for point in self.points if point.arm == arm], self.analysis.question.margin)

    def find_mean(self, arm: str) -> float | None:
        """Return the mean of the valid samples of ``arm``; None without one."""
        summary = self.analysis.summaries.get(arm)
        return None if summary is None else summary.mean

    def count_lost(self, arm: str) -> Lost:
        """Return how many samples of ``arm`` say nothing here."""
        void, unmeasured = (sum(each.arm == arm for each in samples) for samples in (self.voids, self.unmeasured))
        return Lost(void, unmeasured, void + unmeasured + len({p.block for p in self.points if p.arm == arm}))

    def find_selection(self, arm: str) -> Lost | None:
        """Return them if they are more than `MANY_VOIDS`, so that those left may be the lucky ones; else None."""
        lost = self.count_lost(arm)
        return lost if lost.share > MANY_VOIDS else None

    def is_unmeasured(self, arm: str) -> bool:
        """Return whether samples of ``arm`` are valid and none has a value of the metric."""
        return self.count_lost(arm).unmeasured > 0 and all(point.arm != arm for point in self.points)
