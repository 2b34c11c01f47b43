"""The report as values: what the views show. Nothing is computed here but what follows from one value alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from runoff.results import Metric, Results, Sample
from runoff.statistics import Analysis, Question

PERCENTILE = re.compile(r"(?:^|_)p\d+(?:_|$)")
"""In the name of a metric."""

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
    """The same with as little of the workload's parameters as tells it from the others."""
    lacking: frozenset[str] = frozenset()
    """Arms whose samples are valid and have not this metric."""

    @property
    def percentile(self) -> bool:
        """Whether the metric is a percentile of many events of a sample: the mean of several is none, so that the
        median over the samples is shown beside it."""
        return bool(PERCENTILE.search(self.metric.name))

    @property
    def judged(self) -> bool:
        """Whether arms get a verdict here."""
        return self.metric.direction != "none" and len(self.analysis.comparisons) > 1

    def mean_of(self, arm: str) -> float | None:
        """Of ``arm``'s valid samples here; None without one."""
        summary = self.analysis.summaries.get(arm)
        return None if summary is None else summary.mean

    def voids_of(self, arm: str) -> int:
        """How many samples of ``arm`` are void here."""
        return sum(sample.arm == arm for sample in self.voids)

    def lost(self, arm: str) -> tuple[int, int] | None:
        """How many samples of ``arm`` are void here, of how many; None if that is too few to matter."""
        void = self.voids_of(arm)
        taken = void + len({point.block for point in self.points if point.arm == arm})
        return (void, taken) if void > MANY_VOIDS * taken else None


@dataclass(frozen=True, slots=True)
class Overall:
    """The first judged headline metric of each workload and load, as one ratio to the baseline."""

    tables: tuple[Table, ...]
    analysis: Analysis | None
    """None if these cannot be put together."""
    refused: str
    """Why not."""

    @property
    def over(self) -> str:
        """What was put together."""
        titles = dict.fromkeys(table.metric.title for table in self.tables)
        loads = " and loads" if len({table.load for table in self.tables}) > 1 else ""
        return f"{', '.join(titles)} over {len(self.tables)} workloads{loads}"


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """One fact; ``values`` holds one entry for all arms, or one per arm in plan order."""

    key: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the arms disagree."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class Report:
    """A campaign and what it supports."""

    results: Results
    tables: tuple[Table, ...]
    """By workload, load and metric in plan order, headline metrics first."""
    voids: tuple[Sample, ...]
    warnings: tuple[str, ...]
    """About the campaign as a whole; those about one metric are in its analysis."""
    environment: tuple[EnvironmentRow, ...]
    """Rows that differ between arms first."""
    overall: Overall | None = None
    """Of all workloads and loads together, if there are several."""
    repeats: "Mapping[str, Report]" = field(default_factory=dict)
    """Of the same once more, by what was changed for it: ``quantum=500``."""

    @property
    def baseline(self) -> str:
        """The arm all others are compared with."""
        return self.results.arms[0]

    @property
    def engine(self) -> str:
        """Engine and clock, as every table is tagged."""
        return f"{self.results.engine}, {self.results.clock} clock"

    @property
    def question(self) -> Question:
        """What was asked of all headline tables, but for the direction."""
        asked = [table.analysis.question for table in self.headline if table.judged]
        asked += [table.analysis.question for table in self.tables]
        return asked[0] if asked else Question(self.baseline, "none")

    @property
    def is_conclusive(self) -> bool:
        """Whether every arm has a valid sample in all headline tables, and what was to be decided is."""
        headline = self.headline
        empty = any(not any(point.arm == arm for point in table.points) for table in headline for arm in table.arms)
        ended = self.results.ended
        return bool(headline) and not empty and (ended is None or ended.decided)

    @property
    def headline(self) -> tuple[Table, ...]:
        """Tables of headline metrics."""
        return tuple(table for table in self.tables if table.metric.headline)

    @property
    def others_judged(self) -> tuple[int, float]:
        """How many judged tables are not headline tables, and how many of them may show a false ``+`` or ``-``."""
        alphas = [t.analysis.question.alpha for t in self.tables if t.judged and not t.metric.headline]
        return len(alphas), sum(alphas)
