"""What all views of a gate say in the same words."""

from collections.abc import Iterator

from runoff.analysis.table import MANY_VOIDS
from runoff.decide.gate.values import Gate, Line, Reason
from runoff.report.words import wording
from runoff.report.words.campaign_warnings import describe_lost
from runoff.report.words.cpu_limits import describe_limits
from runoff.report.words.machine_rows import describe_machines
from runoff.report.words.numbers import (
    choose_percent_decimals,
    format_change,
    format_change_range,
    format_percent_range,
)
from runoff.statistics.gate import Outcome
from runoff.statistics.gate_risk import Chances

MOST_ABSENT = 5
"""Metrics that a sentence about an arm names."""


def format_share(share: float) -> str:
    """Return a share for people: ``2 %``."""
    return f"{100 * share:g} %"


def format_chance(share: float) -> str:
    """Return a probability with as many digits as are known."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f} %"


def describe_change(line: Line) -> str:
    """Return the change with its interval; as much of it as there is."""
    percent, interval = line.comparison.percent, line.comparison.percent_interval
    if percent is None:
        return ""
    decimals = 2 if interval is not None and interval.high - interval.low < 1 else 1
    text = format_change(percent, decimals)
    return text if interval is None else f"{text} {format_change_range(interval, percent, decimals)}"


def describe_blocks(n: int, gate: Gate) -> str:
    """Return a number of blocks, or of runs where there are none."""
    return f"{n} {'block' if gate.report.results.is_paired else 'run'}{'' if n == 1 else 's'}"


def describe_line(gate: Gate, line: Line) -> str:
    """Return where, which arm, by how much, and why nothing can be told if so."""
    parts = [f"{line.name}: {line.arm}"]
    if shown := describe_change(line):
        parts.append(f" {shown}, {describe_blocks(line.comparison.n, gate)}")
    if reason := describe_reason(gate, line):
        parts.append(f"; {reason}" if shown else f" {reason.removeprefix(line.arm + ' ')}")
    return "".join(parts)


def describe_reason(gate: Gate, line: Line) -> str:
    """Return why nothing can be told of ``line``, and what to do about it; empty where something can."""
    return "" if line.reason is None else _REASONS[line.reason.kind](gate, line, line.reason)


def _describe_no_valid_sample(_gate: Gate, _line: Line, reason: Reason) -> str:
    return f"{reason.arm} has no valid sample here: remove the cause of its voids"


def _describe_no_shared_block(gate: Gate, line: Line, _reason: Reason) -> str:
    both = f"{gate.report.baseline} and {line.arm}"
    return f"no block has a valid sample of both {both}: remove the cause of the voids"


def _describe_not_positive(_gate: Gate, _line: Line, _reason: Reason) -> str:
    return "a value is zero or negative, so a limit in percent means nothing: judge this metric by its report"


def _describe_copies(_gate: Gate, _line: Line, _reason: Reason) -> str:
    return "every block repeated the same run, so nothing was tested: let blocks start from their own perturbation"


def _describe_one_number(gate: Gate, line: Line, _reason: Reason) -> str:
    return (
        f"all values are one number, so how far {line.arm} may be from {gate.report.baseline} is not known: use a "
        "longer workload or a finer metric"
    )


def _describe_confounded(gate: Gate, line: Line, _reason: Reason) -> str:
    same_side = f"{line.arm} was on the same side of {gate.report.baseline} in all blocks"
    if _has_machines(gate):
        return f"values drift on a machine, and {same_side}: take more blocks there and merge again"
    return f"values drift, and {same_side}: {_take_more(gate)}"


def _describe_no_interval(gate: Gate, line: Line, _reason: Reason) -> str:
    return f"{describe_blocks(line.comparison.n, gate)} of both have no interval: {_take_more(gate)}"


def _describe_lost(_gate: Gate, _line: Line, reason: Reason) -> str:
    assert reason.lost is not None
    return (
        f"{reason.arm} lost {describe_lost(reason.lost)} here, more than {100 * MANY_VOIDS:g} %, so what is left may "
        "be the lucky part: remove the cause and take them again"
    )


def _describe_coarse(gate: Gate, _line: Line, reason: Reason) -> str:
    return (
        f"values come in steps of {100 * reason.step:.2g} %, too coarse for the limit of "
        f"{format_share(gate.limit)}: use a longer workload or a finer metric"
    )


def _describe_limit_inside(gate: Gate, line: Line, _reason: Reason) -> str:
    interval = line.comparison.percent_interval
    reach = format_percent_range(interval, choose_percent_decimals(line.table)) if interval else ""
    return f"the limit of {format_share(gate.limit)} is inside the interval {reach}: {_take_more(gate)}"


def _has_machines(gate: Gate) -> bool:
    return len(gate.report.results.machines) > 1


def _take_more(gate: Gate) -> str:
    if _has_machines(gate):
        return "take more machines"
    return f"take more {'blocks' if gate.report.results.is_paired else 'runs'}"


_REASONS = {
    "no valid sample": _describe_no_valid_sample,
    "no shared block": _describe_no_shared_block,
    "not positive": _describe_not_positive,
    "copies": _describe_copies,
    "one number": _describe_one_number,
    "confounded": _describe_confounded,
    "no interval": _describe_no_interval,
    "lost": _describe_lost,
    "coarse": _describe_coarse,
    "limit inside": _describe_limit_inside,
}


def list_notes(gate: Gate) -> list[str]:
    """Return what there is to say about the campaign as a whole."""
    return list(_notes(gate))


def _notes(gate: Gate) -> Iterator[str]:
    results = gate.report.results
    if len(results.samples) < results.planned:
        yield (
            f"only {len(results.samples)} of {results.planned} planned samples are taken, so nothing can be told yet: "
            "runoff resume"
        )
    if not any(table.is_judged for table in gate.report.headline):
        yield "no headline metric has a direction, so nothing can be told: name a workload that has one"
    yield from _describe_absent(gate)
    yield from (line for line, _ in wording.list_voids(gate.report))
    yield from describe_limits(results)
    if gate.unseen is not None:
        yield f"what happens in fewer than {100 * gate.unseen:.0f} % of runs may have gone unseen"


def _describe_absent(gate: Gate) -> Iterator[str]:
    """Yield what is not compared because the files have it of one arm alone."""
    only: dict[str, list[str]] = {}
    for table, arm in gate.absent:
        there = arm if arm in table.analysis.summaries else gate.report.baseline
        if there in table.analysis.summaries:
            only.setdefault(there, []).append(f"{table.place}, {table.metric.title}")
    for arm, names in only.items():
        shown = "; ".join(names[:MOST_ABSENT])
        more = f"; and {len(names) - MOST_ABSENT} more" if len(names) > MOST_ABSENT else ""
        yield f"not compared, as the files have it of {arm} alone: {shown}{more}"


def describe_gate(gate: Gate) -> str:
    """Return the answer."""
    baseline, limit = gate.report.baseline, format_share(gate.limit)
    if gate.outcome is Outcome.FINE and _has_machines(gate):
        over = describe_machines(gate.report.results.machines, [line.table for line in gate.lines])
        return (
            f"Fine: over {over} no headline metric is worse than with {baseline} by more than {limit}, and on none of "
            "them is one found to be."
        )
    if gate.outcome is Outcome.FINE:
        return f"Fine: no headline metric is worse than with {baseline} by more than {limit}."
    certain, perhaps = (_join_lines(gate, outcome) for outcome in (Outcome.REGRESSED, Outcome.WORSE))
    if gate.outcome is Outcome.REGRESSED:
        also = f" Worse, perhaps by more than {limit}: {perhaps}." if perhaps else ""
        return f"Regressed: worse than {baseline} by more than {limit}: {certain}.{also}"
    if gate.outcome is Outcome.WORSE:
        return f"Worse than {baseline}, perhaps by more than {limit}: {perhaps}."
    undecided = gate.find_lines(Outcome.UNCLEAR)
    if not undecided:
        which = "anything is"
    elif len(gate.lines) == 1:
        which = f"{undecided[0].arm} is"
    else:
        which = f"{len(undecided)} of {len(gate.lines)} comparisons are"
    return f"Cannot tell whether {which} worse than {baseline} by more than {limit}."


def _join_lines(gate: Gate, outcome: Outcome) -> str:
    return "; ".join(f"{line.arm} on {line.name} ({describe_change(line)})" for line in gate.find_lines(outcome))


def format_chances(chances: Chances) -> tuple[str, ...]:
    """Return a row of the table of chances: fine, regressed, worse, cannot tell."""
    return tuple(format_chance(share) for share in (chances.fine, chances.regressed, chances.worse, chances.unclear))


def list_risk_rows(gate: Gate) -> Iterator[tuple[str, Chances]]:
    """Yield what might be true, and how this gate would end."""
    if gate.risk is not None:
        yield "nothing changed", gate.risk.unchanged
        yield f"one is {format_share(gate.limit / 2)} worse", gate.risk.at_half
        yield f"one is {format_share(gate.limit)} worse", gate.risk.at_limit
        yield f"one is {format_share(2 * gate.limit)} worse", gate.risk.at_twice


def describe_risk(gate: Gate) -> str:
    """Return what the rows are about, or why there are none."""
    over_all = [line.comparison for line in gate.lines if not line.machine]
    counts = sorted({each.units if _has_machines(gate) else each.n for each in over_all})
    if gate.risk is None:
        return "How often this gate would be wrong cannot be computed: some comparison shows no noise."
    few = "" if len(counts) == 1 else f"{counts[0]} to "
    if _has_machines(gate):
        return (
            "A single machine where nothing is worse than allowed makes this gate regressed in 2.5 % of campaigns at "
            f"most. How often it ends in which way over {few}{counts[-1]} machines that differ as these do, if in truth"
        )
    taken = f"{few}{describe_blocks(counts[-1], gate)}"
    return f"How often this gate ends in which way, with this noise and {taken}, if in truth"
