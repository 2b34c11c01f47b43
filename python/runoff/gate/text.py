"""A gate for the terminal."""

from collections.abc import Iterator

from runoff.decide.gate.values import EXIT_CODES, Gate
from runoff.gate import wording
from runoff.report.words.layout import wrap
from runoff.statistics.gate import Outcome

ORDER = (Outcome.REGRESSED, Outcome.WORSE, Outcome.UNCLEAR, Outcome.FINE)
COLUMNS = (Outcome.FINE, Outcome.REGRESSED, Outcome.WORSE, Outcome.UNCLEAR)
"""Columns of the table of chances."""
LABEL = max(len(outcome) for outcome in Outcome) + 2


def render(gate: Gate, width: int = 80) -> str:
    """Return the answer first, then each comparison, then how often the gate is wrong."""
    return "\n".join(_lines(gate, width)) + "\n"


def _lines(gate: Gate, width: int) -> Iterator[str]:
    yield from wrap(wording.describe_gate(gate), width)
    yield ""
    for outcome in ORDER:
        for line in gate.find_lines(outcome):
            yield from wrap(wording.describe_line(gate, line), width, f"{outcome:{LABEL}}", " " * LABEL)
    for note in wording.list_notes(gate):
        yield from wrap(note, width, "! ", "  ")
    yield ""
    yield from wrap(wording.describe_risk(gate), width)
    rows = [(truth, wording.format_chances(chances)) for truth, chances in wording.list_risk_rows(gate)]
    if rows:
        for heads in ([f"exit {EXIT_CODES[outcome]}" for outcome in COLUMNS], COLUMNS):
            yield "  " + " " * 20 + "".join(f"{head:>13}" for head in heads)
        for truth, cells in rows:
            yield f"  {truth:20}" + "".join(f"{cell:>13}" for cell in cells)
