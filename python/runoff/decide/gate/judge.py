"""From a report to a gate: each headline comparison against the limit, and what is known of the gate's own error."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.decide.gate.values import Gate, Line, Reason, ReasonKind
from runoff.errors import UsageError
from runoff.statistics import Comparison, Interval, Verdict
from runoff.statistics.gate import Outcome, combine_outcomes, judge_comparison
from runoff.statistics.gate_risk import Precision, Risk, RiskInput, correlation, estimate_risk
from runoff.statistics.stopping import find_multiple


def judge(report: Report, limit: float) -> Gate:
    """Hold every arm's headline metrics against ``limit``, a fraction of the baseline.

    Raises UsageError if there is nothing to compare, or for a limit that is none.
    """
    if not 0 < limit < 1:
        raise UsageError(
            f"--max-regression {100 * limit:g}% is not a limit: give one above 0 % and below 100 %, e.g. 2%"
        )
    if len(report.results.arms) < 2:
        raise UsageError(
            f"{report.baseline} is the only arm of this campaign: a gate compares, so take one with two, e.g. "
            "runoff compare ./base.bpf.o ./changed.bpf.o --work hackbench"
        )
    tables = [table for table in report.headline if table.is_judged]
    pairs = [(table, arm) for table in tables for arm in report.results.arms[1:]]
    absent = [(table, arm) for table, arm in pairs if _is_absent(table, arm)]
    over_all = [_line(table, arm, limit) for table, arm in pairs if not _is_absent(table, arm)]
    lines = (*over_all, *(each for line in over_all for each in _find_worse_machines(line, limit)))
    whole = len(report.results.samples) >= report.results.planned
    return Gate(
        report=report,
        limit=limit,
        lines=lines,
        absent=tuple(absent),
        outcome=combine_outcomes([line.outcome for line in lines]) if whole else Outcome.UNCLEAR,
        unseen=_find_unseen_share(over_all),
        risk=_risk([(table, arm) for table, arm in pairs if not _is_absent(table, arm)], limit),
    )


def _is_absent(table: Table, arm: str) -> bool:
    """Return whether imported files have numbers of one of the two alone."""
    return table.analysis.comparisons[arm].verdict is Verdict.ABSENT


def _line(table: Table, arm: str, limit: float) -> Line:
    comparison = table.analysis.comparisons[arm]
    if reason := _find_hindrance(table, comparison):
        return Line(table, arm, Outcome.UNCLEAR, reason)
    found = _judge_comparison(table, comparison, limit)
    return Line(table, arm, found, _explain_undecided(table, comparison, limit) if found is Outcome.UNCLEAR else None)


def _find_worse_machines(line: Line, limit: float) -> Iterator[Line]:
    """Yield a line for each machine on which the arm is worse than allowed, as holds for all machines together.

    What is open on a machine is not told: each has few blocks, and the campaign is about all of them.
    """
    for machine, analysis in line.table.analysis.machines.items():
        table = line.table.select_machine(machine)
        comparison = analysis.comparisons[line.arm]
        if comparison.joint_interval is None or _find_hindrance(table, comparison):
            continue
        outcome = _judge_comparison(table, comparison, limit)
        if outcome in (Outcome.WORSE, Outcome.REGRESSED):
            yield Line(line.table, line.arm, outcome, None, machine)


def _judge_comparison(table: Table, comparison: Comparison, limit: float) -> Outcome:
    interval = comparison.joint_interval or comparison.log_interval
    assert interval is not None
    assert comparison.log_mean is not None
    return judge_comparison(
        _sign(table) * comparison.log_mean,
        _worse_interval(table, interval),
        _limit(table, limit),
        _has_difference(table, comparison),
        comparison.step or 0.0,
    )


def _has_difference(table: Table, comparison: Comparison) -> bool:
    """Return whether the report says that there is a difference, of whatever size."""
    alpha = table.analysis.question.alpha
    return comparison.separated and (comparison.p_report is None or comparison.p_report <= alpha)


def _sign(table: Table) -> int:
    """Return the factor that makes a change for the worse positive."""
    return -1 if table.metric.direction == "higher" else 1


def _worse_interval(table: Table, logs: Interval) -> Interval:
    low, high = sorted((_sign(table) * logs.low, _sign(table) * logs.high))
    return Interval(low, high)


def _limit(table: Table, limit: float) -> float:
    """Return the logarithm beyond which a change is worse than allowed."""
    return _sign(table) * math.log1p(_sign(table) * limit)


def _find_hindrance(table: Table, comparison: Comparison) -> Reason | None:
    """Return what keeps this comparison from being held against a limit at all."""
    arm, baseline = comparison.arm, table.analysis.question.baseline
    for each in (baseline, arm):
        if each not in table.analysis.summaries:
            return Reason("no valid sample", each)
    kinds: dict[ReasonKind, bool] = {
        "no shared block": comparison.n == 0,
        "not positive": comparison.log_mean is None,
        "copies": table.analysis.question.repeats_exactly,
        "one number": comparison.step is None,
        "confounded": comparison.confounded,
        "no interval": comparison.log_interval is None,
    }
    for kind, holds in kinds.items():
        if holds:
            return Reason(kind, arm)
    for each in (baseline, arm):
        if lost := table.find_selection(each):
            return Reason("lost", each, lost=lost)
    return None


def _explain_undecided(table: Table, comparison: Comparison, limit: float) -> Reason:
    assert comparison.log_interval is not None
    if _worse_interval(table, comparison.log_interval).high <= _limit(table, limit):
        return Reason("coarse", comparison.arm, step=comparison.step or 0.0)
    return Reason("limit inside", comparison.arm)


def _find_unseen_share(lines: Sequence[Line]) -> float | None:
    """Return the share of runs below which anything may have gone unseen: what a lost sample did is not known."""
    if not any(line.outcome is Outcome.FINE for line in lines):
        return None
    passed = [
        line.comparison.unseen
        + max(line.table.count_lost(arm).share for arm in (line.arm, line.table.analysis.question.baseline))
        for line in lines
        if line.comparison.n and line.comparison.unseen is not None
    ]
    return max(passed, default=None)


def _risk(pairs: Sequence[tuple[Table, str]], limit: float) -> Risk | None:
    judged = [_measure_noise(table, arm, limit, len(pairs)) for table, arm in pairs]
    known = [each for each in judged if each is not None]
    if not known or len(known) < len(judged):
        return None
    return estimate_risk(known, correlation([_differences(table, arm) for table, arm in pairs]))


def _measure_noise(table: Table, arm: str, limit: float, together: int) -> RiskInput | None:
    """Return the noise of one comparison among those ``together``; None if it has none."""
    comparison, question = table.analysis.comparisons[arm], table.analysis.question
    overall = _find_precision(comparison, comparison.log_interval)
    if overall is None:
        return None
    joint = find_multiple(overall.df + 1, question.alpha, together, question.stopping)
    between = comparison.between
    machines = [
        analysis.comparisons[arm] for analysis in table.analysis.machines.values() if analysis.comparisons[arm].n
    ]
    own = [(_find_precision(each, each.log_interval), _find_precision(each, each.joint_interval)) for each in machines]
    each_known = [replace(one, critical_joint=both.critical) for one, both in own if one and both]
    return RiskInput(
        limit=_limit(table, limit),
        overall=replace(overall, critical_joint=max(overall.critical, joint)),
        step=comparison.step or 0.0,
        machines=tuple(each_known) if len(each_known) == len(own) else (),
        between=0.0 if between is None else between.sd or 0.0,
    )


def _find_precision(comparison: Comparison, interval: Interval | None) -> Precision | None:
    if interval is None or not comparison.error or comparison.df is None:
        return None
    critical = (interval.high - interval.low) / 2 / comparison.error
    return Precision(comparison.error, comparison.df, critical, critical)


def _differences(table: Table, arm: str) -> dict[int, float]:
    """Return the differences by block; worse is above zero."""
    values = {
        name: {p.block: p.value for p in table.points if p.arm == name}
        for name in (arm, table.analysis.question.baseline)
    }
    common = values[arm].keys() & values[table.analysis.question.baseline].keys()
    return {
        block: _sign(table) * math.log(values[arm][block] / values[table.analysis.question.baseline][block])
        for block in sorted(common)
    }
