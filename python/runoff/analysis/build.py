"""Builds the report: everything the views show, computed once."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

from runoff.analysis import overall
from runoff.analysis.arm_names import name_by_setting
from runoff.analysis.environment import list_environment_rows
from runoff.analysis.labels import shorten_labels
from runoff.analysis.means import needs_geometric_means
from runoff.analysis.noise import Noise
from runoff.analysis.sweep import find_sweep
from runoff.analysis.table import Point, Table
from runoff.analysis.values import Report
from runoff.analysis.warnings import find_warnings
from runoff.errors import UsageError
from runoff.results import IMPORTED, Metric, Results, Sample, Sort
from runoff.statistics import (
    Analysis,
    Observation,
    Question,
    Verdict,
    analyse,
    analyse_machines,
    analyse_unpaired,
    judge_family,
)
from runoff.statistics.values import DEFAULT_ALPHA, DEFAULT_MARGIN, DEFAULT_RARE


def build_report(
    results: Results,
    *,
    alpha: float = DEFAULT_ALPHA,
    margin: float | None = None,
    rare: float | None = None,
    sort: Sort = "mean",
    noise: tuple[Noise | UsageError, ...] = (),
) -> Report:
    """Analyse every metric of ``results``.

    ``alpha`` is the error over the arms of one table, and over all headline tables together; ``margin`` the fraction
    of the baseline within which arms count as the same; ``rare`` the share of runs that has to be seen for that. What
    is not given is the plan's, or the usual. ``sort`` orders the arms of a table; ``noise`` is what is known of this
    machine's. Raises ValueError if there is no arm.
    """
    sweep = find_sweep(results.arms)
    if sweep is None:
        results = name_by_setting(results)
    if not results.arms:
        raise ValueError("the campaign names no arm; give at least one to describe, two to compare")
    chosen = margin if margin is not None else results.margin
    seen = rare if rare is not None else results.rare
    asked = Question(
        results.arms[0],
        "none",
        alpha,
        DEFAULT_MARGIN if chosen is None else chosen,
        DEFAULT_RARE if seen is None else seen,
        seconds_per_block=results.seconds_per_block,
        taken=_count_blocks(results),
        stopping=results.stopping.rule,
        stopping_of={name: each.rule for name, each in results.members.items()},
        paired=results.is_paired,
    )
    tables = _judge_as_one_family([_sort_arms(table, sort) for table in _tables(results, asked)])
    repeats = {
        n: build_report(each, alpha=alpha, margin=chosen, rare=seen, sort=sort) for n, each in results.repeats.items()
    }
    return Report(
        results=results,
        tables=tables,
        voids=tuple(sample for sample in results.judged_samples if not sample.valid),
        warnings=tuple(find_warnings(results, tables)),
        environment=list_environment_rows(results.fingerprint, results.arms),
        overall=overall.build(tables, asked, results.arms),
        repeats=repeats,
        sweep=sweep,
        noise=noise,
    )


def _count_blocks(results: Results) -> int | None:
    """Return the blocks of a campaign that ``runoff resume`` can add to; None of others."""
    if not results.is_paired or results.engine == IMPORTED or results.machines:
        return None
    return len({sample.block for sample in results.judged_samples})


def _tables(results: Results, asked: Question) -> Iterator[Table]:
    cells: dict[tuple[str, str], list[Sample]] = {}
    for sample in results.judged_samples:
        cells.setdefault((sample.workload, sample.load), []).append(sample)
    ordered = [(w, cells[w, load]) for w in results.workloads for load in results.loads if (w, load) in cells]
    names = shorten_labels(results.workloads)
    family = sum(_is_in_family(metric) for workload, _ in ordered for metric in results.metrics[workload])
    for workload, cell in ordered:
        repeats = _repeats_exactly(results, cell)
        for metric in _tell_apart(results.metrics[workload]):
            question = replace(
                asked,
                direction=metric.direction,
                repeats_exactly=repeats,
                tables=family if _is_in_family(metric) else 1,
            )
            yield _table(results, cell, metric, question, names[workload])


def _tell_apart(metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics, those with one title with their names in it: a heading stands for one table."""
    counts = Counter(metric.title for metric in metrics)
    return [
        replace(metric, title=f"{metric.title} ({metric.name})") if counts[metric.title] > 1 else metric
        for metric in metrics
    ]


def _is_in_family(metric: Metric) -> bool:
    """Return whether ``metric`` belongs to the family of tables that are judged together."""
    return metric.headline and metric.direction != "none"


def _judge_as_one_family(tables: list[Table]) -> tuple[Table, ...]:
    """Judge the headline tables as one family: a verdict must hold among all of them."""
    family = [number for number, table in enumerate(tables) if _is_in_family(table.metric)]
    found = judge_family([tables[number].analysis for number in family])
    for number, analysis in zip(family, found, strict=True):
        tables[number] = replace(tables[number], analysis=analysis)
    return tuple(tables)


def _table(results: Results, cell: list[Sample], metric: Metric, question: Question, short: str) -> Table:
    points = tuple(
        Point(s.arm, s.block, s.position, float(s.metrics[metric.name]), s.machine)
        for s in sorted(cell, key=lambda s: s.position)
        if s.valid and _is_measured(s, metric)
    )
    analysis = _analyse_points(results, points, question)
    measured = {point.arm for point in points}
    missing, verdict = _find_missing(results, cell, measured)
    unmeasured = tuple(s for s in cell if s.valid and not _is_measured(s, metric) and s.arm not in missing)
    analysis = _mark(analysis, missing, verdict)
    if question.baseline in missing | ({s.arm for s in unmeasured} - measured):
        analysis = replace(analysis, warnings=tuple(w for w in analysis.warnings if w.kind != "baseline"))
    work, loads = cell[0].work, len(results.loads)
    return Table(
        workload=work.workload,
        load=work.load,
        metric=metric,
        analysis=analysis,
        points=points,
        voids=tuple(sorted((s for s in cell if not s.valid), key=lambda s: s.position)),
        arms=_rank_arms(results.arms, analysis, -1 if metric.direction == "higher" else 1),
        place=work.label(loads),
        short_place=short + work.suffix(loads),
        unmeasured=unmeasured,
        has_geometric_means=needs_geometric_means(analysis),
    )


def _is_measured(sample: Sample, metric: Metric) -> bool:
    return isfinite(sample.metrics.get(metric.name, float("nan")))


def _find_missing(
    results: Results, cell: Sequence[Sample], measured: Collection[str]
) -> tuple[frozenset[str], Verdict]:
    """Return the arms that have nothing to be compared here, and the verdict that says why.

    In imported numbers that is every arm where the baseline is missing: its files will never have any.
    """
    if results.engine != IMPORTED:
        return frozenset(results.arms) - {sample.arm for sample in cell}, Verdict.PENDING
    missing = frozenset(results.arms) - set(measured) - {sample.arm for sample in cell if not sample.valid}
    return (frozenset(results.arms) if results.arms[0] in missing else missing), Verdict.ABSENT


def _analyse_points(results: Results, points: Sequence[Point], question: Question) -> Analysis:
    """Analyse one metric, on several machines with the machine as the unit."""
    if len(results.machines) < 2:
        judge_arms = analyse if results.is_paired else analyse_unpaired
        return judge_arms(_observe(results, points), question)
    machines = {name: _observe(results, [p for p in points if p.machine == name]) for name in results.machines}
    return analyse_machines(machines, question)


def _mark(analysis: Analysis, arms: Collection[str], verdict: Verdict) -> Analysis:
    """Return ``analysis`` with this verdict on arms that have neither valid nor void samples."""
    marked = {arm: replace(analysis.comparisons[arm], verdict=verdict) for arm in arms}
    return replace(analysis, comparisons={**analysis.comparisons, **marked})


def _observe(results: Results, points: Sequence[Point]) -> dict[str, list[Observation]]:
    return {arm: [Observation(p.value, p.position, p.block) for p in points if p.arm == arm] for arm in results.arms}


def _sort_arms(table: Table, sort: Sort) -> Table:
    """Return ``table`` with its arms in the order ``sort``; they come best mean first."""
    by = {"mean": table.arms, "name": tuple(sorted(table.arms)), "plan": tuple(table.analysis.comparisons)}
    return replace(table, arms=by[sort])


def _rank_arms(arms: tuple[str, ...], analysis: Analysis, sign: int) -> tuple[str, ...]:
    known = sorted((arm for arm in arms if arm in analysis.summaries), key=lambda a: sign * analysis.summaries[a].mean)
    return (*known, *(arm for arm in arms if arm not in analysis.summaries))


def _repeats_exactly(results: Results, cell: list[Sample]) -> bool:
    """Return whether every block repeats one run, as it can under the virtual clock."""
    if results.clock != "virtual":
        return False
    runs: dict[str, list[Mapping[str, float]]] = {}
    for sample in cell:
        if sample.valid:
            runs.setdefault(sample.arm, []).append(dict(sample.metrics))
    replicated = [taken for taken in runs.values() if len(taken) > 1]
    return bool(replicated) and all(metrics == taken[0] for taken in replicated for metrics in taken)
