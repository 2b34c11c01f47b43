"""What a sweep found, in sentences: whether any value of its parameters helps."""

import math
from collections.abc import Iterator, Sequence

from runoff.analysis.sweep import Sweep
from runoff.analysis.table import Table
from runoff.report.words.numbers import format_change
from runoff.statistics import Verdict
from runoff.statistics.shrinkage import shrink
from runoff.statistics.values import to_percent

_WITHOUT = (Verdict.VOID, Verdict.PENDING, Verdict.ABSENT)
"""Verdicts without a comparison."""
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
        same = _list_arms(sweep, table, Verdict.SAME)
        if same and len(same) == len(sweep.values) - 1:
            return f"{names} makes no difference, all {len(same)} values are the same as the baseline {baseline}"
        text = _describe_none_better(sweep, table, names, baseline)
    else:
        best = min(better, key=lambda arm: _find_gain(table, arm))
        text = f"better than the baseline {baseline}: {_name(sweep, better)}; the best as measured is "
        text += f"{sweep.describe(best)}{_describe_gain(table, best)}"
    return f"{text}; worse: {_name(sweep, worse)}" if worse else text


def _describe_gain(table: Table, best: str) -> str:
    """Return the change of the best arm, and what is left of it when it is measured again."""
    change = table.analysis.comparisons[best].percent
    if change is None:
        return ""
    found = {arm: c for arm, c in table.analysis.comparisons.items() if c.log_mean is not None and c.sd is not None}
    # Half of the variance of a difference is the baseline's, which all arms share.
    errors = [(c.sd or 0.0) / math.sqrt(2 * c.n) for c in found.values()]
    expected = dict(zip(found, shrink([c.log_mean or 0.0 for c in found.values()], errors), strict=True))
    again = format_change(to_percent(expected[best]), 1) if best in expected else ""
    measured = format_change(change, 1)
    return f" ({measured})" if again in ("", measured) else f" ({measured}, and about {again} if it is measured again)"


def _describe_none_better(sweep: Sweep, table: Table, names: str, baseline: str) -> str:
    """Return that no value is better, if a gain that matters is excluded for each; else how many are open."""
    others = [arm for arm in sweep.order if arm != sweep.baseline]
    void = [arm for arm in others if table.analysis.comparisons[arm].verdict in _WITHOUT]
    if len(void) == len(others):
        return f"nothing is compared, as no value of {names} but the baseline {baseline} has a valid sample"
    is_excluded = all(_excludes_gain(table, arm) for arm in others if arm not in void)
    text = f"no value of {names} is {'' if is_excluded else 'shown to be '}better than the baseline {baseline}"
    unclear = _list_arms(sweep, table, Verdict.UNCLEAR)
    if unclear and not is_excluded:
        text += f"; {len(unclear)} of {len(others)} cannot be told apart from it"
    return f"{text}; without a valid sample: {_name(sweep, void)}" if void else text


def _excludes_gain(table: Table, arm: str) -> bool:
    """Return whether it is certain that an arm is not better than the baseline by more than the margin."""
    comparison, question = table.analysis.comparisons[arm], table.analysis.question
    if comparison.verdict in (Verdict.WORSE, Verdict.SAME, Verdict.SMALL):
        return True
    is_lower = question.direction == "lower"
    if comparison.log_interval is not None:
        step = comparison.step or 0.0
        low, high = comparison.log_interval.low - step, comparison.log_interval.high + step
        return low >= math.log1p(-question.margin) if is_lower else high <= math.log1p(question.margin)
    if comparison.interval is not None:
        return comparison.interval.low >= 0 if is_lower else comparison.interval.high <= 0
    return False


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
