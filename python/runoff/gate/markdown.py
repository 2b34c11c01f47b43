"""A gate for a pull request or a job's summary."""

from collections.abc import Iterator

from runoff.decide.gate.values import EXIT_CODES, Gate, Line
from runoff.gate import wording
from runoff.gate.text import COLUMNS, ORDER
from runoff.report.markdown import SPECIAL
from runoff.report.words.wording import describe_seed
from runoff.statistics.gate import Outcome
from runoff.text import escape_lines

SIGNS = {outcome: f"**{outcome}**" if EXIT_CODES[outcome] == 1 else f"{outcome}" for outcome in Outcome}


def render(gate: Gate) -> str:
    """Return the answer, a table, and folded how often the gate is wrong and how to run the campaign again."""
    return "\n".join(_lines(gate)) + "\n"


def _lines(gate: Gate) -> Iterator[str]:
    results = gate.report.results
    yield f"**{_safe(wording.describe_gate(gate))}**\n"
    yield "| where | arm | blocks | change | its interval | |\n|---|---|--:|--:|--:|---|"
    for outcome in ORDER:
        yield from (_row(gate, line) for line in gate.find_lines(outcome))
    yield ""
    for note in wording.list_notes(gate):
        yield f"- {_safe(note)}"
    yield "\n<details><summary>How often this gate is wrong, and how to run it again</summary>\n"
    yield f"{wording.describe_risk(gate)}\n"
    if gate.risk is not None:
        yield f"| | {' | '.join(COLUMNS)} |\n|---|--:|--:|--:|--:|"
        for truth, chances in wording.list_risk_rows(gate):
            yield f"| {truth} | {' | '.join(wording.format_chances(chances))} |"
    yield f"\nrunoff {_safe(results.version)}, {gate.report.engine}{describe_seed(gate.report)}\n"
    yield from (f"    {line}" for line in escape_lines(results.rerun).split("\n"))
    yield "\n</details>"


def _row(gate: Gate, line: Line) -> str:
    change, _, interval = wording.describe_change(line).partition(" % ")
    change = change.removesuffix(" %")
    reason = wording.describe_reason(gate, line)
    outcome = SIGNS[line.outcome] + (f": {_safe(reason)}" if reason else "")
    cells = (
        _safe(line.name),
        _safe(line.arm),
        str(line.comparison.n),
        f"{change} %" if change else "",
        _safe(interval),
        outcome,
    )
    return f"| {' | '.join(cells)} |"


def _safe(text: str) -> str:
    return " ".join(text.split()).translate(SPECIAL)
