"""From a report to a gate: each headline comparison against the limit, and what is known of the gate's own error."""

import math
from collections.abc import Iterator

from runoff.analysis.values import MANY_VOIDS, Report, Table
from runoff.decide.gate.values import Gate, Line
from runoff.errors import UsageError
from runoff.report import wording
from runoff.report.numbers import percent_decimals, percent_range
from runoff.statistics import Comparison, Interval
from runoff.statistics.gate import Judged, Outcome, Risk, correlation, outcome, risk, together
from runoff.statistics.verdict import multiple


def judge(report: Report, limit: float) -> Gate:
    """Hold every arm's headline metrics against ``limit``, a fraction of the baseline.

    Raises UsageError if there is nothing to compare, or for a limit that is none.
    """
    if not 0 < limit < 1:
        raise UsageError(f"--max-regression {100 * limit:g}% is no limit: give one above 0 % and below 100 %, e.g. 2%")
    if len(report.results.arms) < 2:
        raise UsageError(
            f"{report.baseline} is the only arm of this campaign: a gate compares, so take one with two, e.g. "
            "runoff compare ./base.bpf.o ./changed.bpf.o --work hackbench"
        )
    tables = [table for table in report.headline if table.judged]
    lines = tuple(_line(table, arm, limit) for table in tables for arm in report.results.arms[1:])
    notes = tuple(_notes(report, tables, lines))
    whole = len(report.results.samples) >= report.results.planned
    return Gate(
        report=report,
        limit=limit,
        lines=lines,
        outcome=together([line.outcome for line in lines]) if whole else Outcome.UNCLEAR,
        notes=notes,
        risk=_risk(tables, report.results.arms[1:], limit),
    )


def _line(table: Table, arm: str, limit: float) -> Line:
    comparison = table.analysis.comparisons[arm]
    found, reason = Outcome.UNCLEAR, _hindrance(table, comparison)
    if not reason:
        found = _outcome(table, comparison, limit)
        reason = _undecided(table, comparison, limit) if found is Outcome.UNCLEAR else ""
    return Line(
        table.place, table.metric, arm, comparison.n, comparison.percent, comparison.percent_interval, found, reason
    )


def _outcome(table: Table, comparison: Comparison, limit: float) -> Outcome:
    interval = comparison.percent_interval
    assert interval is not None
    assert comparison.percent is not None
    return outcome(
        _worse(table, comparison.percent),
        _worse_interval(table, interval),
        _limit(table, limit),
        _stands(table, comparison),
        comparison.step or 0.0,
    )


def _stands(table: Table, comparison: Comparison) -> bool:
    """Whether the report says that there is a difference, of whatever size."""
    alpha = table.analysis.question.alpha
    return comparison.separated and (comparison.p_report is None or comparison.p_report <= alpha)


def _sign(table: Table) -> int:
    """Turns a change so that worse is above zero."""
    return -1 if table.metric.direction == "higher" else 1


def _worse(table: Table, percent: float) -> float:
    return _sign(table) * math.log1p(max(percent / 100, -1 + 1e-15))


def _worse_interval(table: Table, interval: Interval) -> Interval:
    low, high = sorted((_worse(table, interval.low), _worse(table, interval.high)))
    return Interval(low, high)


def _limit(table: Table, limit: float) -> float:
    return _worse(table, _sign(table) * 100 * limit)


def _hindrance(table: Table, comparison: Comparison) -> str:
    """What keeps this comparison from being held against a limit at all."""
    baseline = table.analysis.question.baseline
    for arm in (baseline, comparison.arm):
        if arm not in table.analysis.summaries:
            return f"{arm} has no valid sample here: remove the cause of its voids"
    if comparison.n == 0:
        return f"no block has a valid sample of both {baseline} and {comparison.arm}: remove the cause of the voids"
    if comparison.percent is None:
        return "a value is zero or negative, so a limit in percent means nothing: judge this metric by its report"
    if table.analysis.question.repeats_exactly:
        return "every block repeated the same run, so nothing was tested: let blocks start from their own perturbation"
    if comparison.step is None:
        return (
            f"all values are one number, so how far {comparison.arm} may be from {baseline} is not known: use a longer "
            "workload or a finer metric"
        )
    if comparison.confounded:
        return f"values drift, and {comparison.arm} was on the same side of {baseline} in all blocks: take more blocks"
    if comparison.percent_interval is None:
        return f"{comparison.n} block{'s' if comparison.n > 1 else ''} of both have no interval: take more blocks"
    for arm in (baseline, comparison.arm):
        if lost := table.lost(arm):
            return (
                f"{arm} lost {lost[0]} of {lost[1]} samples here as void, more than {100 * MANY_VOIDS:g} %, so what is "
                "left may be the lucky part: remove the cause and take them again"
            )
    return ""


def _undecided(table: Table, comparison: Comparison, limit: float) -> str:
    interval = comparison.percent_interval
    assert interval is not None
    if _worse_interval(table, interval).high <= _limit(table, limit):
        return (
            f"values come in steps of {100 * (comparison.step or 0.0):.2g} %, too coarse for the limit of "
            f"{100 * limit:g} %: use a longer workload or a finer metric"
        )
    reach = percent_range(interval, percent_decimals(table))
    return f"the interval {reach} has the limit of {100 * limit:g} % in it: take more blocks"


def _notes(report: Report, tables: list[Table], lines: tuple[Line, ...]) -> Iterator[str]:
    results = report.results
    if len(results.samples) < results.planned:
        yield (
            f"only {len(results.samples)} of {results.planned} planned samples are taken, so nothing can be told yet: "
            "runoff resume"
        )
    if not tables:
        yield "no headline metric has a direction, so nothing can be told: name a workload that has one"
    yield from (line for line, _ in wording.voids(report))
    passed = [table.analysis.comparisons[line.arm].unseen for table in tables for line in lines if line.n]
    known = [share for share in passed if share is not None]
    if known and any(line.outcome is Outcome.FINE for line in lines):
        yield f"what happens in fewer than {100 * max(known):.0f} % of runs may have gone unseen"


def _risk(tables: list[Table], arms: tuple[str, ...], limit: float) -> Risk | None:
    judged, series = [], []
    for table in tables:
        for arm in arms:
            comparison = table.analysis.comparisons[arm]
            interval = comparison.percent_interval
            if interval is None or not comparison.sd or comparison.percent is None or comparison.n < 2:
                return None
            bounds = _worse_interval(table, interval)
            half = (bounds.high - bounds.low) / 2 / (comparison.sd / math.sqrt(comparison.n))
            judged.append(
                Judged(
                    comparison.n,
                    comparison.sd,
                    _limit(table, limit),
                    half,
                    max(half, multiple(table.analysis.question, len(tables) * len(arms), comparison.n)),
                    comparison.step or 0.0,
                )
            )
            series.append(_differences(table, arm))
    return risk(judged, correlation(series)) if judged else None


def _differences(table: Table, arm: str) -> dict[int, float]:
    """By block, worse above zero."""
    values = {
        name: {p.block: p.value for p in table.points if p.arm == name}
        for name in (arm, table.analysis.question.baseline)
    }
    common = values[arm].keys() & values[table.analysis.question.baseline].keys()
    return {
        block: _sign(table) * math.log(values[arm][block] / values[table.analysis.question.baseline][block])
        for block in sorted(common)
    }
