"""Which arms vary more or less from run to run than the baseline, in sentences."""

from collections.abc import Iterator, Sequence

from runoff.analysis.table import Table
from runoff.report.words.numbers import Scale
from runoff.report.words.wording import render_place

MOST_ARMS = 3
"""Arms that are told; of more, the first."""


def describe_spread(tables: Sequence[Table]) -> Iterator[str]:
    """Yield a sentence for each arm that varies otherwise than the baseline for certain."""
    arms = [arm for arm in tables[0].analysis.comparisons if _list_tables(tables, arm)] if tables else []
    for arm in arms[:MOST_ARMS]:
        yield _describe_arm(tables, arm)
    if len(arms) > MOST_ARMS:
        yield f"{len(arms) - MOST_ARMS} more arms vary more or less from run to run than {_baseline(tables)}."


def _describe_arm(tables: Sequence[Table], arm: str) -> str:
    found = _list_tables(tables, arm)
    sides = []
    for is_larger, word in ((True, "more"), (False, "less")):
        parts = [
            f"{render_place(table, tables)} ({_describe_range(table, arm)})"
            for table in found
            if _is(table, arm, is_larger)
        ]
        if parts:
            sides.append(f"{word} from run to run than {_baseline(tables)} in {', '.join(parts)}")
    return f"{arm} varies {'; and '.join(sides)}."


def _list_tables(tables: Sequence[Table], arm: str) -> list[Table]:
    return [t for t in tables if (spread := t.analysis.comparisons[arm].spread) is not None and spread.differs]


def _is(table: Table, arm: str, is_larger: bool) -> bool:
    spread = table.analysis.comparisons[arm].spread
    return spread is not None and spread.is_larger == is_larger


def _baseline(tables: Sequence[Table]) -> str:
    return tables[0].analysis.question.baseline


def _describe_range(table: Table, arm: str) -> str:
    """Return the smallest and largest value of the arm, against those of the baseline."""
    scale, summaries = Scale.from_table(table), table.analysis.summaries
    own, theirs = (summaries[each] for each in (arm, table.analysis.question.baseline))
    found = [each.quantiles for each in (own, theirs) if each.quantiles is not None]
    ends = [f"{scale.short(each.minimum)} to {scale.short(each.maximum)}" for each in found]
    return f"{ends[0]} against {ends[1]} {scale.unit}".rstrip()
