"""What all views of a gate say in the same words."""

from collections.abc import Iterator

from runoff.decide.gate.values import Gate, Line
from runoff.report.numbers import percent_range, percent_text
from runoff.statistics.gate import Chances, Outcome


def percent(share: float) -> str:
    """A share for people: ``2 %``."""
    return f"{100 * share:g} %"


def chance(share: float) -> str:
    """A probability of so many digits as it is known to."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f} %"


def change(line: Line) -> str:
    """The change with its interval; as much of it as there is."""
    if line.percent is None:
        return ""
    text = f"{percent_text(line.percent, _decimals(line))} %"
    return text if line.interval is None else f"{text} {percent_range(line.interval, _decimals(line))}"


def _decimals(line: Line) -> int:
    narrow = line.interval is not None and line.interval.high - line.interval.low < 1
    return 2 if narrow else 1


def blocks(n: int) -> str:
    """A number of them."""
    return f"{n} block{'' if n == 1 else 's'}"


def told(line: Line) -> str:
    """One comparison: where, who, by how much, and why nothing can be told if so."""
    parts = [f"{line.name}: {line.arm}"]
    if shown := change(line):
        parts.append(f" {shown}, {blocks(line.n)}")
    if line.reason:
        parts.append(f"; {line.reason}" if shown else f" {line.reason.removeprefix(line.arm + ' ')}")
    return "".join(parts)


def sentence(gate: Gate) -> str:
    """The answer."""
    baseline, limit = gate.report.baseline, percent(gate.limit)
    if gate.outcome is Outcome.FINE:
        return f"Fine: no headline metric is worse than with {baseline} by more than {limit}."
    certain, perhaps = (_listed(gate, outcome) for outcome in (Outcome.REGRESSED, Outcome.WORSE))
    if gate.outcome is Outcome.REGRESSED:
        also = f" Worse, perhaps by more than {limit}: {perhaps}." if perhaps else ""
        return f"Regressed: worse than {baseline} by more than {limit}: {certain}.{also}"
    if gate.outcome is Outcome.WORSE:
        return f"Worse than {baseline}, perhaps by more than {limit}: {perhaps}."
    undecided = len(gate.among(Outcome.UNCLEAR))
    if not undecided:
        return f"Cannot tell whether anything is worse than {baseline} by more than {limit}."
    return (
        f"Cannot tell: {undecided} of {len(gate.lines)} comparisons may be worse than {baseline} by more than {limit}, "
        "or not."
    )


def _listed(gate: Gate, outcome: Outcome) -> str:
    return "; ".join(f"{line.arm} on {line.name} ({change(line)})" for line in gate.among(outcome))


def cells(chances: Chances) -> tuple[str, ...]:
    """A row of the table of chances: fine, regressed, worse, cannot tell."""
    return tuple(chance(share) for share in (chances.fine, chances.regressed, chances.worse, chances.unclear))


def risk_rows(gate: Gate) -> Iterator[tuple[str, Chances]]:
    """What might be true, and how this gate would end."""
    if gate.risk is not None:
        yield "nothing changed", gate.risk.unchanged
        yield f"one is {percent(gate.limit / 2)} worse", gate.risk.at_half
        yield f"one is {percent(gate.limit)} worse", gate.risk.at_limit
        yield f"one is {percent(2 * gate.limit)} worse", gate.risk.at_twice


def risk_title(gate: Gate) -> str:
    """What the rows are about, or why there are none."""
    counts = sorted({line.n for line in gate.lines})
    if gate.risk is None:
        return "How often this gate would be wrong cannot be reckoned: some comparison shows no noise to reckon with."
    taken = blocks(counts[0]) if len(counts) == 1 else f"{counts[0]} to {blocks(counts[-1])}"
    return f"How often this gate ends in which way, with this noise and {taken}, if in truth"
