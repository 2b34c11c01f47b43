"""The report as values: everything the views show, computed once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite

from runoff.report import sentences
from runoff.report.environment import EnvironmentRow, environment_rows
from runoff.results import NO_LOAD, PROBE_COST, Metric, Results, Sample
from runoff.statistics import Analysis, Observation, Question, analyse
from runoff.statistics.values import DEFAULT_ALPHA, DEFAULT_MARGIN

MANY_VOIDS = 0.2
"""Above this share of voids the valid rest of an arm may be a selection."""


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
    lacking: frozenset[str] = frozenset()
    """Arms whose samples are valid and have not this metric."""

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


@dataclass(frozen=True, slots=True)
class Report:
    """A campaign and what it supports."""

    results: Results
    tables: tuple[Table, ...]
    """By workload, load and metric in plan order, headline metrics first."""
    sentences: tuple[str, ...]
    """The verdict."""
    voids: tuple[Sample, ...]
    warnings: tuple[str, ...]
    """About the campaign as a whole; those about one metric are in its analysis."""
    environment: tuple[EnvironmentRow, ...]
    """Rows that differ between arms first."""

    @property
    def baseline(self) -> str:
        """The arm all others are compared with."""
        return self.results.arms[0]

    @property
    def engine(self) -> str:
        """Engine and clock, as every table is tagged."""
        return "simulator" if self.results.engine == "sim" else f"{self.results.engine}, {self.results.clock} clock"

    @property
    def headline(self) -> tuple[Table, ...]:
        """Tables of headline metrics."""
        return tuple(table for table in self.tables if table.metric.headline)

    @property
    def chance(self) -> tuple[int, float]:
        """How many tables are judged, and how many of them may show a false ``+`` or ``-``."""
        judged = sum(table.judged for table in self.tables)
        return judged, judged * DEFAULT_ALPHA


def build(results: Results, *, alpha: float = DEFAULT_ALPHA, margin: float = DEFAULT_MARGIN) -> Report:
    """Analyse every metric of ``results``.

    ``alpha`` is the family-wise error over the pairs of one table, ``margin`` the fraction of the
    baseline within which arms count as the same. Raises ValueError if there is no arm.
    """
    if not results.arms:
        raise ValueError("the campaign names no arm; give at least one to describe, two to compare")
    tables = tuple(_tables(results, alpha, margin))
    return Report(
        results=results,
        tables=tables,
        sentences=sentences.verdict(results, [table for table in tables if table.metric.headline]),
        voids=tuple(sample for sample in results.judged if not sample.valid),
        warnings=tuple(_warnings(results, tables)),
        environment=environment_rows(results.fingerprint, results.arms),
    )


def _tables(results: Results, alpha: float, margin: float) -> Iterator[Table]:
    for workload in results.workloads:
        for load in results.loads:
            cell = [s for s in results.judged if (s.workload, s.load) == (workload, load)]
            if cell:
                repeats = _repeats_exactly(results, cell)
                for metric in results.metrics[workload]:
                    question = Question(results.arms[0], metric.direction, alpha, margin, repeats)
                    yield _table(results, cell, metric, question)


def _table(results: Results, cell: list[Sample], metric: Metric, question: Question) -> Table:
    points = tuple(
        Point(s.arm, s.block, s.position, float(s.metrics[metric.name]))
        for s in sorted(cell, key=lambda s: s.position)
        if s.valid and isfinite(s.metrics.get(metric.name, float("nan")))
    )
    analysis = analyse(
        {arm: [Observation(p.value, p.position) for p in points if p.arm == arm] for arm in results.arms}, question
    )
    measured = {point.arm for point in points}
    lacking = frozenset(sample.arm for sample in cell if sample.valid) - measured
    if question.baseline in lacking:
        analysis = replace(analysis, warnings=tuple(w for w in analysis.warnings if w.kind != "baseline"))
    place = cell[0].workload
    if len(results.loads) > 1 or cell[0].load not in ("", NO_LOAD):
        place += f" beside {cell[0].load or NO_LOAD}"
    return Table(
        workload=cell[0].workload,
        load=cell[0].load,
        metric=metric,
        analysis=analysis,
        points=points,
        voids=tuple(sorted((s for s in cell if not s.valid), key=lambda s: s.position)),
        arms=_ranked(results.arms, analysis, -1 if metric.direction == "higher" else 1),
        place=place,
        lacking=lacking,
    )


def _ranked(arms: tuple[str, ...], analysis: Analysis, sign: int) -> tuple[str, ...]:
    known = sorted((arm for arm in arms if arm in analysis.summaries), key=lambda a: sign * analysis.summaries[a].mean)
    return (*known, *(arm for arm in arms if arm not in analysis.summaries))


def _repeats_exactly(results: Results, cell: list[Sample]) -> bool:
    """A deterministic engine whose blocks differ in no metric of any arm repeats one run."""
    if results.engine != "sim" and results.clock != "virtual":
        return False
    runs: dict[str, list[Mapping[str, float]]] = {}
    for sample in cell:
        if sample.valid:
            runs.setdefault(sample.arm, []).append(dict(sample.metrics))
    replicated = [taken for taken in runs.values() if len(taken) > 1]
    return bool(replicated) and all(metrics == taken[0] for taken in replicated for metrics in taken)


def _warnings(results: Results, tables: tuple[Table, ...]) -> Iterator[str]:
    taken = len(results.samples)
    if taken < results.planned:
        yield f"only {taken} of {results.planned} planned samples are taken, verdicts are provisional: runoff resume"
    for arm in results.arms:
        mine = [sample for sample in results.judged if sample.arm == arm]
        void = sum(not sample.valid for sample in mine)
        if mine and void == len(mine):
            yield f"{arm} has no valid sample, all {void} are void: remove the cause and take them again"
        elif mine and void / len(mine) > MANY_VOIDS:
            yield (
                f"{arm} lost {void} of {len(mine)} samples as void; what is left may be the lucky part: "
                "remove the cause and take them again"
            )
    for table in tables:
        missing = [
            s.id
            for s in results.judged
            if s.valid and (s.workload, s.load) == (table.workload, table.load) and table.metric.name not in s.metrics
        ]
        if missing and table.metric.headline:
            yield f"{table.place}: {len(missing)} valid samples lack {table.metric.title}; check the workload's log"
    yield from _observed(tables)
    yield from results.warnings


def _observed(tables: tuple[Table, ...]) -> Iterator[str]:
    cost = [
        (summary.mean, arm, table.place)
        for table in tables
        if table.metric.name == PROBE_COST
        for arm, summary in table.analysis.summaries.items()
    ]
    if cost:
        share, arm, place = max(cost)
        yield (
            f"probes observed these samples and took up to {share:.2g} % of one CPU ({arm} on {place}), beside what "
            "entering and timing them takes: judge arms by a campaign without --probe"
        )
