"""The rule of campaigns that go on until all is decided: what its looks see, and when it ends them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from runoff.analysis import build
from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.decide.looks import Look
from runoff.results import Results
from runoff.statistics import OPEN, Comparison, Verdict
from runoff.statistics.forecast import Course, forecast_blocks
from runoff.statistics.level import level_for_each
from runoff.statistics.power import least_blocks
from runoff.statistics.verdict import margin_of

DECIDED = "every headline comparison is decided"


class UntilRule:
    """See ``runoff.decide.looks.Rule``."""

    def __init__(self, read: Callable[[], Results], most: int) -> None:
        """``read`` returns the campaign as it is now; it has ``most`` blocks at most."""
        self._read = read
        self._most = most

    def __call__(self, blocks: int) -> Look:
        return look(self._read(), blocks, self._most)


def look(results: Results, blocks: int, most: int) -> Look:
    """Return what the first ``blocks`` blocks of ``results`` decide, of at most ``most``."""
    report = build.build_report(_take_first(results, blocks))
    every = _list_comparisons(report)
    undecided = find_open(report)
    hopeless = [reason for table, c in every if (reason := _explain_hopeless(table, c))]
    ends = None
    if not every:
        ends = "no headline metric has a direction, so there is nothing to decide"
    elif not undecided:
        ends = f"all that can be decided is, and not: {'; '.join(hopeless)}" if hopeless else DECIDED
    elif blocks >= most:
        ends = f"not all is decided, but more than {most} blocks are not allowed (--most-blocks)"
    return Look(
        blocks=blocks,
        undecided=tuple(_name(table, comparison) for table, comparison in undecided),
        ahead=_forecast_decision(report, undecided, most - blocks),
        ends=ends,
        decided=ends == DECIDED,
    )


def find_open(report: Report) -> list[tuple[Table, Comparison]]:
    """Return the headline comparisons that more blocks may decide."""
    every = _list_comparisons(report)
    return [(t, c) for t, c in every if c.verdict in OPEN and not _explain_hopeless(t, c)]


def _list_comparisons(report: Report) -> list[tuple[Table, Comparison]]:
    tables = [table for table in report.headline if table.is_judged]
    return [(table, comparison) for table in tables for comparison in table.analysis.comparisons.values()]


def _take_first(results: Results, blocks: int) -> Results:
    """Return the results of the first blocks, with headline metrics only."""
    samples = tuple(sample for sample in results.samples if sample.block < blocks)
    headline = {work: tuple(metric for metric in each if metric.headline) for work, each in results.metrics.items()}
    stopping = replace(results.stopping, ended=None)
    return replace(results, samples=samples, metrics=headline, planned=len(samples), requests={}, stopping=stopping)


def _name(table: Table, comparison: Comparison) -> str:
    return f"{comparison.arm} on {table.place}, {table.metric.title}"


def _explain_hopeless(table: Table, comparison: Comparison) -> str:
    """Return why more blocks like these will not decide it; empty if they may."""
    if comparison.verdict is Verdict.VOID:
        return f"{_name(table, comparison)} (no valid sample)"
    if comparison.verdict is not Verdict.UNCLEAR:
        return ""
    if table.analysis.question.baseline not in table.analysis.summaries:
        return f"{_name(table, comparison)} (the baseline has no valid sample)"
    if table.analysis.question.repeats_exactly:
        return f"{_name(table, comparison)} (every block repeats the same run)"
    if comparison.coarse and _values_agree(comparison, table.analysis.question.margin):
        return f"{_name(table, comparison)} (its values are too coarse to be called the same)"
    return ""


def _values_agree(comparison: Comparison, margin: float) -> bool:
    """Return whether the interval shows that the arms agree within the margin."""
    interval = comparison.percent_interval
    return comparison.difference == 0 if interval is None else interval.is_inside(-100 * margin, 100 * margin)


def _forecast_decision(
    report: Report, undecided: Sequence[tuple[Table, Comparison]], most: int
) -> tuple[int | None, int | None, int | None]:
    """Return the further blocks until all of these are decided, looked at as often as one likes: median and 90 %
    interval; None is more than ``most``, or not known."""
    question = report.question
    comparisons = len(report.results.arms) - 1
    joint = comparisons * sum(table.is_judged for table in report.headline)
    courses = []
    for _, comparison in undecided:
        if comparison.n < 2 or comparison.sd is None or comparison.difference is None:
            return None, None, None
        margin = margin_of(comparison, question)
        courses.append(
            Course(
                n=comparison.n,
                mean=comparison.difference if comparison.log_mean is None else comparison.log_mean,
                sd=comparison.sd,
                margin=None if margin is None else (-margin, margin),
                least=least_blocks(question.rare),
                level_same=level_for_each(question.alpha, comparisons),
                level_apart=level_for_each(question.alpha, joint),
            )
        )
    found = forecast_blocks(courses, most)
    return found.median, found.low, found.high
