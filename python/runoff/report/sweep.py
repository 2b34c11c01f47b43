"""What a sweep found, in sentences: whether any value of its parameters helps."""

from collections.abc import Iterator, Sequence

from runoff.analysis.sweep import Sweep
from runoff.analysis.table import Table
from runoff.report.numbers import format_change
from runoff.statistics import Verdict

MOST_NAMED = 6
"""Values that a sentence names."""


def describe_sweep(sweep: Sweep, tables: Sequence[Table]) -> Iterator[str]:
    """Yield a sentence for each judged table."""
    for table in tables:
        if table.is_judged and sweep.baseline in table.analysis.summaries:
            yield f"{table.short_place}, {table.metric.title}: {_describe_table(sweep, table)}."


def _describe_table(sweep: Sweep, table: Table) -> str:
    names, baseline = " and ".join(sweep.parameters), sweep.describe(sweep.baseline)
    better, worse = (_list_arms(sweep, table, verdict) for verdict in (Verdict.BETTER, Verdict.WORSE))
    if not better:
        told = f"no value of {names} is better than the baseline {baseline}"
        same = _list_arms(sweep, table, Verdict.SAME)
        if same and len(same) == len(sweep.values) - 1:
            return f"{names} makes no difference, all {len(same)} values are the same as the baseline {baseline}"
    else:
        best = min(better, key=lambda arm: _find_gain(table, arm))
        change = table.analysis.comparisons[best].percent
        size = "" if change is None else f" ({format_change(change, 1)})"
        told = f"better than the baseline {baseline}: {_name(sweep, better)}; the best as measured is "
        told += f"{sweep.describe(best)}{size}"
    return f"{told}; worse: {_name(sweep, worse)}" if worse else told


def _list_arms(sweep: Sweep, table: Table, verdict: Verdict) -> list[str]:
    return [arm for arm in sweep.order if table.analysis.comparisons[arm].verdict is verdict]


def _find_gain(table: Table, arm: str) -> float:
    """Return the change so that less is better."""
    comparison = table.analysis.comparisons[arm]
    change = comparison.log_mean if comparison.log_mean is not None else comparison.difference or 0.0
    return change if table.metric.direction == "lower" else -change


def _name(sweep: Sweep, arms: Sequence[str]) -> str:
    named = [sweep.describe(arm) for arm in arms]
    separator = "; " if len(sweep.parameters) > 1 else ", "
    if len(named) > MOST_NAMED:
        return f"{separator.join(named[: MOST_NAMED - 1])} and {len(named) - MOST_NAMED + 1} more"
    return separator.join(named)
