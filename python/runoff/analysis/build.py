"""Builds the report: everything the views show, computed once."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite

from runoff.analysis import overall
from runoff.analysis.environment import environment_rows
from runoff.analysis.labels import shorter
from runoff.analysis.values import Point, Report, Table
from runoff.results import NO_LOAD, PROBE_COST, Metric, Results, Sample, Sort
from runoff.statistics import Analysis, Observation, Question, analyse, together
from runoff.statistics.values import DEFAULT_ALPHA, DEFAULT_MARGIN, DEFAULT_RARE


def build_report(
    results: Results,
    *,
    alpha: float = DEFAULT_ALPHA,
    margin: float | None = None,
    rare: float | None = None,
    sort: Sort = "mean",
) -> Report:
    """Analyse every metric of ``results``.

    ``alpha`` is the error over the arms of one table, and over all headline tables together; ``margin`` the fraction
    of the baseline within which arms count as the same; ``rare`` the share of runs that has to be seen for that. What
    is not given is the plan's, or the usual. ``sort`` orders the arms of a table. Raises ValueError if there is no arm.
    """
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
        sequential=results.sequential,
    )
    tables = _as_one_family([_sorted(table, sort) for table in _tables(results, asked)])
    repeats = {
        n: build_report(each, alpha=alpha, margin=chosen, rare=seen, sort=sort) for n, each in results.repeats.items()
    }
    return Report(
        results=results,
        tables=tables,
        voids=tuple(sample for sample in results.judged if not sample.valid),
        warnings=tuple(_warnings(results, tables)),
        environment=environment_rows(results.fingerprint, results.arms),
        overall=overall.build(tables, asked, results.arms),
        repeats=repeats,
    )


def _tables(results: Results, asked: Question) -> Iterator[Table]:
    cells: dict[tuple[str, str], list[Sample]] = {}
    for sample in results.judged:
        cells.setdefault((sample.workload, sample.load), []).append(sample)
    ordered = [(w, cells[w, load]) for w in results.workloads for load in results.loads if (w, load) in cells]
    names = shorter(results.workloads)
    family = sum(_belongs(metric) for workload, _ in ordered for metric in results.metrics[workload])
    for workload, cell in ordered:
        repeats = _repeats_exactly(results, cell)
        for metric in results.metrics[workload]:
            question = replace(
                asked, direction=metric.direction, repeats_exactly=repeats, tables=family if _belongs(metric) else 1
            )
            yield _table(results, cell, metric, question, names[workload])


def _belongs(metric: Metric) -> bool:
    """To the family of tables that are judged together."""
    return metric.headline and metric.direction != "none"


def _as_one_family(tables: list[Table]) -> tuple[Table, ...]:
    """What is better or worse in a headline table must be so among all of them."""
    family = [number for number, table in enumerate(tables) if _belongs(table.metric)]
    found = together([tables[number].analysis for number in family])
    for number, analysis in zip(family, found, strict=True):
        tables[number] = replace(tables[number], analysis=analysis)
    return tuple(tables)


def _table(results: Results, cell: list[Sample], metric: Metric, question: Question, short: str) -> Table:
    points = tuple(
        Point(s.arm, s.block, s.position, float(s.metrics[metric.name]))
        for s in sorted(cell, key=lambda s: s.position)
        if s.valid and isfinite(s.metrics.get(metric.name, float("nan")))
    )
    analysis = analyse(
        {arm: [Observation(p.value, p.position, p.block) for p in points if p.arm == arm] for arm in results.arms},
        question,
    )
    measured = {point.arm for point in points}
    lacking = frozenset(sample.arm for sample in cell if sample.valid) - measured
    if question.baseline in lacking:
        analysis = replace(analysis, warnings=tuple(w for w in analysis.warnings if w.kind != "baseline"))
    workload, load = cell[0].workload, cell[0].load
    beside = f" beside {load or NO_LOAD}" if len(results.loads) > 1 or load not in ("", NO_LOAD) else ""
    return Table(
        workload=workload,
        load=load,
        metric=metric,
        analysis=analysis,
        points=points,
        voids=tuple(sorted((s for s in cell if not s.valid), key=lambda s: s.position)),
        arms=_ranked(results.arms, analysis, -1 if metric.direction == "higher" else 1),
        place=workload + beside,
        short_place=short + beside,
        lacking=lacking,
    )


def _sorted(table: Table, sort: Sort) -> Table:
    """Rows are best mean first already."""
    by = {"mean": table.arms, "name": tuple(sorted(table.arms)), "plan": tuple(table.analysis.comparisons)}
    return replace(table, arms=by[sort])


def _ranked(arms: tuple[str, ...], analysis: Analysis, sign: int) -> tuple[str, ...]:
    known = sorted((arm for arm in arms if arm in analysis.summaries), key=lambda a: sign * analysis.summaries[a].mean)
    return (*known, *(arm for arm in arms if arm not in analysis.summaries))


def _repeats_exactly(results: Results, cell: list[Sample]) -> bool:
    """Under the virtual clock, blocks that differ in no metric of any arm repeat one run."""
    if results.clock != "virtual":
        return False
    runs: dict[str, list[Mapping[str, float]]] = {}
    for sample in cell:
        if sample.valid:
            runs.setdefault(sample.arm, []).append(dict(sample.metrics))
    replicated = [taken for taken in runs.values() if len(taken) > 1]
    return bool(replicated) and all(metrics == taken[0] for taken in replicated for metrics in taken)


def _warnings(results: Results, tables: tuple[Table, ...]) -> Iterator[str]:
    yield from results.changes
    taken = len(results.samples)
    yield from _looks(results)
    if taken < results.planned and results.until is not None:
        yield (
            f"{taken} samples of at most {results.planned} are taken, and it is not known yet whether more are needed: "
            "runoff resume"
        )
    elif taken < results.planned:
        yield f"only {taken} of {results.planned} planned samples are taken, verdicts are provisional: runoff resume"
    for arm in results.arms:
        mine = [sample for sample in results.judged if sample.arm == arm]
        void = sum(not sample.valid for sample in mine)
        if mine and void == len(mine):
            yield f"{arm} has no valid sample, all {void} are void: remove the cause and take them again"
        else:
            yield from _lucky(results, tables, arm)
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
    yield from results.noise


def _lucky(results: Results, tables: tuple[Table, ...], arm: str) -> Iterator[str]:
    """That voids may have chosen what is left of ``arm``, if anything is, and which verdicts that favours."""
    left = [table for table in tables if arm in table.analysis.summaries]
    places = {table.place: lost for table in left if (lost := table.lost(arm))}
    if not places:
        return
    told = ", ".join(f"{void} of {taken} samples as void on {place}" for place, (void, taken) in places.items())
    if len(results.arms) < 2:
        doubt = "what is left may be the lucky part"
    else:
        luck = "a - or = against it" if arm == results.arms[0] else "its + or ="
        doubt = f"if these were its worst runs it looks better than it is, and {luck} may be luck"
    yield f"{arm} lost {told}: {doubt}; remove the cause and take them again"


def _looks(results: Results) -> Iterator[str]:
    """That intervals are those of the sequential rule, and why."""
    if results.ended is not None:
        yield f"blocks are taken until all is decided; this ended after {results.ended.blocks}: {results.ended.why}"
    elif results.looks:
        blocks = ", ".join(map(str, results.looks))
        yield (
            f"more blocks were taken after {blocks} had been seen: intervals and p hold over any looking, and are "
            "wider than those of a number of blocks that was chosen beforehand"
        )


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
