"""The verdict in sentences that a reader can quote, one for each arm."""

import re
from collections.abc import Iterator, Sequence

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.words import sensitivity
from runoff.report.words.counterparts import describe_counterparts
from runoff.report.words.machine_rows import describe_dissent, describe_machines, describe_sides
from runoff.report.words.spread import describe_spread
from runoff.report.words.sweep import describe_sweep
from runoff.report.words.wording import describe_size, join_names, render_place
from runoff.results import IMPORTED, Results
from runoff.statistics import Comparison, Verdict

MOST_ARMS = 3
"""Arms that are told one by one; of more, those that differ in most tables."""

MOST_PLACES = 3
"""Tables in which an arm is said to differ; of more, the first."""

CLEAR = (Verdict.BETTER, Verdict.WORSE)

IT = "{baseline}"
"""Where the baseline is named, or "it", or nothing."""
THAN_IT = re.compile(f" (than|as) {re.escape(IT)}")

_CANNOT, _HAS_NONE, _HAS_NOT_RUN = "cannot be told apart from", "has no valid sample in", "has not been run yet"


def render_verdict(report: Report) -> tuple[str, ...]:
    """Return the sentences that answer the campaign's question: on each arm, on those that vary more or less than the
    baseline, and what repeats of the campaign say."""
    headline = report.headline
    judged = [table for table in headline if table.is_judged]
    answer = list(describe_sweep(report.sweep, headline)) if report.sweep is not None else []
    if not answer:
        answer = _verdict_of(report.results, headline, judged)
    first = _make_provisional(report.results, judged, answer[0])
    return (
        first,
        *answer[1:],
        *describe_counterparts(report.tables),
        *describe_dissent(judged),
        *_describe_what_order_hides(report.results, judged),
        *describe_spread(judged),
        *sensitivity.describe_surveys(headline, report.repeats),
    )


def _describe_what_order_hides(results: Results, judged: Sequence[Table]) -> Iterator[str]:
    """Yield what a difference of imported runs in no blocks may also be; nothing where none is told."""
    if results.engine != IMPORTED or results.is_paired:
        return
    if any(each.verdict in CLEAR for table in judged for each in table.analysis.comparisons.values()):
        yield "The runs are in no blocks: a machine that changed between the arms would look the same."


def _verdict_of(results: Results, tables: Sequence[Table], judged: Sequence[Table]) -> list[str]:
    if not judged:
        return [_explain_nothing_judged(results, tables)]
    return _table(judged[0]) if len(judged) == 1 else _arms(results, judged)


def _make_provisional(results: Results, judged: Sequence[Table], sentence: str) -> str:
    """Return the sentence with what it rests on, where that is not the usual."""
    if len(results.machines) > 1:
        sentence = f"Over {describe_machines(results.machines, judged)}: {sentence}"
    if len(results.samples) < results.planned and results.stopping.until is None:
        sentence = f"Provisional, {len(results.samples)} of {results.planned} samples: {sentence}"
    return sentence


def _explain_nothing_judged(results: Results, tables: Sequence[Table]) -> str:
    if not results.samples:
        return "No sample has been taken yet."
    if len(results.arms) == 1:
        if not any(sample.valid for sample in results.judged_samples):
            return f"{results.arms[0]} is the only arm, and it has no valid sample."
        return f"{results.arms[0]} is the only arm: its samples are described, nothing is compared."
    return (
        "No headline metric has a direction, so no arm is called better."
        if tables
        else "No headline metric was measured."
    )


def _arms(results: Results, tables: Sequence[Table]) -> list[str]:
    """Return each arm over several tables; of many arms those that differ."""
    baseline, others = results.arms[0], results.arms[1:]
    if not any(baseline in table.analysis.summaries for table in tables):
        return [f"No arm can be judged, because {_describe_absent(tables[0], baseline)}."]
    verdicts = {_verdict(table, arm) for table in tables for arm in others}
    if len(others) > 1 and verdicts == {Verdict.UNCLEAR}:
        return [f"No arm can be told apart from {baseline} in any of the {len(tables)} tables."]
    if len(others) > 1 and verdicts <= {Verdict.UNCLEAR, Verdict.SMALL}:
        return [_describe_no_difference(tables, others)]
    chosen = others
    if len(others) > MOST_ARMS:
        counts = {arm: sum(_verdict(table, arm) in CLEAR for table in tables) for arm in others}
        differing = sorted((arm for arm in others if counts[arm]), key=lambda arm: -counts[arm])[:MOST_ARMS]
        chosen = tuple(arm for arm in others if arm in differing)
    most = MOST_PLACES if len(others) <= MOST_ARMS else 1
    parts = [f"{arm} {_join_clauses(_describe_clauses(arm, tables, most))}" for arm in chosen]
    if rest := [arm for arm in others if arm not in chosen]:
        parts.append(f"The {'other ' if chosen else ''}{len(rest)} arms {_describe_rest(rest, tables)}")
    return [f"{_name_baseline(part, baseline)}." for part in parts]


def _name_baseline(part: str, baseline: str) -> str:
    """Add the baseline's name once."""
    return THAN_IT.sub("", part.replace(IT, baseline, 1)).replace(IT, "it")


def _describe_absent(table: Table, baseline: str) -> str:
    verdict = _verdict(table, baseline)
    if verdict is Verdict.ABSENT:
        return f"the files have no number of the baseline {baseline}"
    return f"the baseline {baseline} {_HAS_NOT_RUN if verdict is Verdict.PENDING else 'has no valid sample'}"


def _describe_no_difference(tables: Sequence[Table], others: Sequence[str]) -> str:
    """Summarise arms of which none is better or worse in any table, and not all are unclear in all."""
    baseline = tables[0].analysis.question.baseline
    every = [_verdict(table, arm) for table in tables for arm in others]
    small = every.count(Verdict.SMALL)
    which = f"all {small} comparisons are" if small == len(every) else f"{small} of {len(every)} comparisons are"
    rest = "" if small == len(every) else ", the others are unclear"
    return (
        f"No arm is better or worse than {baseline} in any of the {len(tables)} tables: {which} "
        f"{_describe_margin(tables[0])} ({_TOO_FEW}){rest}."
    )


def _describe_clauses(arm: str, tables: Sequence[Table], most: int) -> list[str]:
    """Return what is said of ``arm``, a clause for each verdict: better than IT in these tables."""
    groups = {verdict: [table for table in tables if _verdict(table, arm) is verdict] for verdict in Verdict}
    there = {verdict: found for verdict, found in groups.items() if found}
    return [
        _clause(arm, verdict, found, _describe_tables(arm, found, tables, most, last=number == len(there) - 1 > 0))
        for number, (verdict, found) in enumerate(there.items())
    ]


def _clause(arm: str, verdict: Verdict, found: Sequence[Table], where: str) -> str:
    match verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return f"{verdict.word} than {IT} in {where}"
        case Verdict.SAME:
            unseen = _describe_unseen([table.analysis.comparisons[arm] for table in found])
            return f"the same as {IT} in {where} {unseen}"
        case Verdict.SMALL:
            return f"{_describe_margin(found[0])} of {IT} in {where} ({_TOO_FEW})"
        case Verdict.PENDING:
            return f"{_HAS_NOT_RUN} in {where}"
        case Verdict.ABSENT:
            return f"not compared with {IT} in {where} (only one of them is there)"
        case Verdict.MIXED:
            parts = [_describe_mixed(table, arm, IT) + f" in {table.short_place}" for table in found[:MOST_PLACES]]
            more = f", and machines disagree in {len(found) - MOST_PLACES} more" if len(found) > MOST_PLACES else ""
            return ", ".join(parts) + more
        case Verdict.UNCLEAR:
            return f"{_CANNOT} {IT} in {where}"
        case Verdict.VOID:
            return f"{_HAS_NONE} {where}"


def _describe_tables(arm: str, found: Sequence[Table], tables: Sequence[Table], most: int, *, last: bool) -> str:
    """Return the tables by name if they are few or something stands there, else how many; ``last``: nothing follows."""
    verdict, every = _verdict(found[0], arm), len(found) == len(tables)
    count = f"all {len(tables)} tables" if every else f"{len(found)} of {len(tables)} tables"
    if verdict in CLEAR:
        if len(found) <= most:
            return join_names([_describe_table(table, tables, arm) for table in found])
        named = [f"{render_place(table, tables)} {describe_size(table, arm)}" for table in found[:most]]
        return f"{count} ({', '.join([*named, '...'])})"
    if every:
        return count if verdict in (Verdict.SAME, Verdict.SMALL) else "any table"
    if len(found) == 1:
        return render_place(found[0], tables)
    return f"the other {len(found)}" if last else count


def _describe_table(table: Table, tables: Sequence[Table], arm: str) -> str:
    """Return a table, and what ``arm`` is there."""
    if len({each.place for each in tables}) == 1:
        return f"{table.metric.title} ({describe_size(table, arm)})"
    return f"{table.short_place} ({table.metric.title} {describe_size(table, arm)})"


def _describe_rest(arms: Sequence[str], tables: Sequence[Table]) -> str:
    """Summarise the arms that are not described one by one."""
    counts = {verdict: sum(_verdict(table, arm) is verdict for arm in arms for table in tables) for verdict in Verdict}
    total = len(arms) * len(tables)
    if counts[Verdict.UNCLEAR] == total:
        return f"{_CANNOT} {IT} in any table"
    shares = ", ".join(
        f"{_IN_WORDS.get(verdict, verdict.word)} in {count}" for verdict, count in counts.items() if count
    )
    return f"against {IT}: {shares} of {total} comparisons"


_IN_WORDS = {Verdict.SMALL: "within the margin", Verdict.PENDING: "not run", Verdict.ABSENT: "not compared"}


def _verdict(table: Table, arm: str) -> Verdict | None:
    return table.analysis.comparisons[arm].verdict


def _table(table: Table) -> list[str]:
    """Return all arms in one table, those with the same verdict together."""
    analysis = table.analysis
    baseline = analysis.question.baseline
    name = f"{table.short_place}, {table.metric.title}"
    if baseline not in analysis.summaries:
        return [f"{name}: no verdict, {_describe_absent(table, baseline)}."]
    by: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for arm in table.arms:
        verdict = analysis.comparisons[arm].verdict
        if arm != baseline and verdict is not None:
            by[verdict].append(f"{arm} ({describe_size(table, arm)})" if verdict in CLEAR else arm)
    first, *rest = _parts(table, by)
    return [f"{name}: {first}.", *(f"{part}." for part in rest)]


def _parts(table: Table, by: dict[Verdict, list[str]]) -> Iterator[str]:
    analysis, baseline = table.analysis, table.analysis.question.baseline
    for verdict in (Verdict.BETTER, Verdict.WORSE):
        if found := by[verdict]:
            yield f"{join_names(found)} {_conjugate_be(found)} {verdict.word} than {baseline}"
    if found := by[Verdict.SAME]:
        seen = _describe_unseen([analysis.comparisons[arm] for arm in found])
        yield f"{join_names(found)} {_conjugate_be(found)} the same as {baseline} {_describe_margin(table)} {seen}"
    if found := by[Verdict.SMALL]:
        named = join_names([f"{arm} ({describe_size(table, arm)})" for arm in found])
        yield f"{named} {_conjugate_be(found)} {_describe_margin(table)} of {baseline} ({_TOO_FEW})"
    for arm in by[Verdict.MIXED]:
        yield f"{arm} is {_describe_mixed(table, arm, baseline)}"
    if found := by[Verdict.UNCLEAR]:
        every = len(found) == len(analysis.comparisons) - 1 > 1
        who = "No arm can" if every else f"{join_names(found)} cannot"
        yield f"{who} be told apart from {baseline}"
    if found := by[Verdict.VOID]:
        yield f"{join_names(found)} {'has' if len(found) == 1 else 'have'} no valid sample"
    if found := by[Verdict.PENDING]:
        yield f"{join_names(found)} {'has' if len(found) == 1 else 'have'} not been run yet"
    if found := by[Verdict.ABSENT]:
        yield f"{join_names(found)} {_conjugate_be(found)} not compared with {baseline}: only one of them is there"


def _describe_mixed(table: Table, arm: str, baseline: str) -> str:
    """Return how machines disagree."""
    comparison = table.analysis.comparisons[arm]
    sides = describe_sides(comparison)
    if comparison.between is not None and comparison.between.is_opposite:
        return f"{sides} than {baseline}"
    return f"{_describe_margin(table)} of {baseline} but {sides}"


_TOO_FEW = "more blocks are needed to call that the same"


def _describe_margin(table: Table) -> str:
    question = table.analysis.question
    return f"within {100 * question.margin:g} %" if table.analysis.is_relative else "to the last digit"


def _describe_unseen(comparisons: Sequence[Comparison]) -> str:
    """Describe the rare events that a verdict "same" cannot exclude."""
    share = max(c.unseen or 0.0 for c in comparisons)
    return f"(but for what hits under {100 * share:.2g} % of runs)"


def _join_clauses(clauses: Sequence[str]) -> str:
    """Join clauses, which may contain lists."""
    clause = ", and ".join([", ".join(clauses[:-1]), clauses[-1]] if len(clauses) > 1 else clauses)
    return clause if clause.startswith((_CANNOT, _HAS_NONE, _HAS_NOT_RUN)) else f"is {clause}"


def _conjugate_be(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
