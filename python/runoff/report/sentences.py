"""The verdict in a sentence that a reader can quote."""

from collections.abc import Iterator, Sequence

from runoff.report.numbers import Scale, percent_text
from runoff.report.values import MANY_VOIDS, Table
from runoff.results import Results
from runoff.statistics import Comparison, Verdict

MOST_ARMS = 3
"""Arms that are told one by one; of more, those that differ in most tables."""

MOST_PLACES = 3
"""Tables in which an arm is said to differ; of more, the first."""

CLEAR = (Verdict.BETTER, Verdict.WORSE)


def verdict(results: Results, tables: Sequence[Table]) -> tuple[str, ...]:
    """One sentence."""
    judged = [table for table in tables if table.judged]
    if not judged:
        return (_nothing_judged(results, tables),)
    told = _table(judged[0]) if len(judged) == 1 else _arms(results, judged)
    if len(results.samples) < results.planned and results.until is None:
        told = f"Provisional, {len(results.samples)} of {results.planned} samples: {told}"
    return (told,)


def _nothing_judged(results: Results, tables: Sequence[Table]) -> str:
    if not results.samples:
        return "No sample has been taken yet."
    if len(results.arms) == 1:
        if not any(sample.valid for sample in results.judged):
            return f"{results.arms[0]} is the only arm, and it has no valid sample."
        return f"{results.arms[0]} is the only arm: its samples are described, nothing is compared."
    return (
        "No headline metric has a direction, so no arm is called better."
        if tables
        else "No headline metric was measured."
    )


def _arms(results: Results, tables: Sequence[Table]) -> str:
    """Each arm over several tables; of many arms those that differ."""
    baseline, others = results.arms[0], results.arms[1:]
    if not any(baseline in table.analysis.summaries for table in tables):
        return f"No verdict: the baseline {baseline} has no valid sample."
    chosen = others
    if len(others) > MOST_ARMS:
        counts = {arm: sum(_verdict(table, arm) in CLEAR for table in tables) for arm in others}
        differing = sorted((arm for arm in others if counts[arm]), key=lambda arm: -counts[arm])[:MOST_ARMS]
        chosen = tuple(arm for arm in others if arm in differing)
    places = MOST_PLACES if len(others) <= MOST_ARMS else 1
    parts = [f"{arm} {_over(arm, tables, places)}" for arm in chosen]
    if rest := [arm for arm in others if arm not in chosen]:
        parts.append(f"the {'other ' if chosen else ''}{len(rest)} arms {_rest(rest, tables)}")
    return f"In {len(tables)} headline metrics against {baseline}: {'; '.join(parts)}."


def _over(arm: str, tables: Sequence[Table], most: int) -> str:
    """What is said of ``arm``: better in 2 (where), unclear in 1."""
    told = []
    for verdict in Verdict:
        found = [table for table in tables if _verdict(table, arm) is verdict]
        if not found:
            continue
        where = "all" if len(found) == len(tables) else str(len(found))
        aside = ""
        if verdict in CLEAR:
            places = [f"{_place(table, tables)} {_size(table, arm)}" for table in found[:most]]
            aside = f" ({', '.join(places + ['...'] * (len(found) > most))})"
        elif verdict is Verdict.SAME:
            aside = f" {_unseen([table.analysis.comparisons[arm] for table in found])}"
        told.append(f"{verdict.word} in {where}{aside}")
    return ", ".join(told)


def _place(table: Table, tables: Sequence[Table]) -> str:
    """As little as tells it from the others."""
    if len({each.metric.title for each in tables}) == 1:
        return table.place
    if len({each.place for each in tables}) == 1:
        return table.metric.title
    return f"{table.place} {table.metric.title}"


def _rest(arms: Sequence[str], tables: Sequence[Table]) -> str:
    """Of arms that are not told one by one."""
    counts = {verdict: sum(_verdict(table, arm) is verdict for arm in arms for table in tables) for verdict in Verdict}
    total = len(arms) * len(tables)
    if counts[Verdict.UNCLEAR] == total:
        return "unclear in all"
    told = ", ".join(f"{verdict.word} in {count}" for verdict, count in counts.items() if count)
    return f"{told} of {total} comparisons"


def _verdict(table: Table, arm: str) -> Verdict | None:
    return table.analysis.comparisons[arm].verdict


def _table(table: Table) -> str:
    """All arms in one table."""
    analysis = table.analysis
    baseline = analysis.question.baseline
    name = f"{table.place}, {table.metric.title}"
    if baseline not in analysis.summaries:
        return f"{name}: no verdict, the baseline {baseline} has no valid sample."
    by: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for arm in table.arms:
        verdict = analysis.comparisons[arm].verdict
        if arm != baseline and verdict is not None:
            by[verdict].append(f"{arm} ({_size(table, arm)})" if verdict in CLEAR else arm)
    return f"{name}: {'; '.join(_parts(table, by))}."


def _parts(table: Table, by: dict[Verdict, list[str]]) -> Iterator[str]:
    analysis, baseline = table.analysis, table.analysis.question.baseline
    for verdict in (Verdict.BETTER, Verdict.WORSE):
        if found := by[verdict]:
            yield f"{_listed(found)} {_is(found)} {verdict.word} than {baseline}"
    if found := by[Verdict.SAME]:
        margin = f"within {100 * analysis.question.margin:g} %" if analysis.relative else "to the last digit"
        seen = _unseen([analysis.comparisons[arm] for arm in found])
        yield f"{_listed(found)} {_is(found)} the same as {baseline} {margin} {seen}"
    if found := by[Verdict.UNCLEAR]:
        every = len(found) == len(analysis.comparisons) - 1 > 1
        told = "no arm can" if every else f"{_listed(found)} cannot"
        yield f"{told} be told apart from {baseline}"
    if found := by[Verdict.VOID]:
        yield f"{_listed(found)} {'has' if len(found) == 1 else 'have'} no valid sample"


def _unseen(comparisons: Sequence[Comparison]) -> str:
    """What the same cannot be about."""
    share = max(c.unseen or 0.0 for c in comparisons)
    return f"(but for what hits under {100 * share:.2g} % of runs)"


def _size(table: Table, arm: str) -> str:
    """Of a difference that stands; with how much of the arm is valid, if that may be a selection."""
    comparison, scale = table.analysis.comparisons[arm], Scale.of(table)
    size = f"{scale.signed(comparison.difference or 0.0)} {scale.unit}".strip()
    if comparison.percent is not None:
        size = f"{percent_text(comparison.percent, 1)} %"
    valid, void = table.analysis.summaries[arm].n, table.voids_of(arm)
    return f"{size}, of {valid} valid runs in {valid + void}" if void > MANY_VOIDS * (valid + void) else size


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
