"""A gate for programs: JSON, and the XML that JUnit writes and continuous integration reads."""

from dataclasses import asdict
from typing import Any, Literal

from runoff.decide.gate.values import EXIT_CODES, Gate, Line
from runoff.gate import wording
from runoff.report.data import junit
from runoff.report.data.json_text import dump, make_head, round_significant
from runoff.report.data.junit import Case
from runoff.statistics.gate import Outcome
from runoff.text import escape_lines

SCHEMA = "runoff.gate/2"
"""Raised whenever a reader of the last version would misread this one."""


def render_json(gate: Gate) -> str:
    """Return one document, keys in a fixed order; percentages of the baseline, chances from 0 to 1."""
    return dump(make_document(gate))


def make_document(gate: Gate) -> dict[str, Any]:
    """Return then and now as plain values."""
    results = gate.report.results
    return {
        **make_head(SCHEMA, results),
        "baseline": gate.report.baseline,
        "max_regression_percent": round_significant(100 * gate.limit),
        "outcome": gate.outcome.value,
        "exit_code": gate.exit_code,
        "sentence": wording.describe_gate(gate),
        "comparisons": [_line(gate, line) for line in gate.lines],
        "notes": wording.list_notes(gate),
        "risk": None if gate.risk is None else {key: _chances(value) for key, value in asdict(gate.risk).items()},
        "rerun": escape_lines(results.rerun),
    }


def _line(gate: Gate, line: Line) -> dict[str, Any]:
    percent, interval = line.comparison.percent, line.comparison.percent_interval
    return {
        "place": line.table.place,
        "metric": line.table.metric.name,
        "direction": line.table.metric.direction,
        "arm": line.arm,
        **({"machine": line.machine} if line.machine else {}),
        "blocks": line.comparison.n,
        "change_percent": None if percent is None else round_significant(percent),
        "interval_percent": None
        if interval is None
        else [round_significant(interval.low), round_significant(interval.high)],
        "outcome": line.outcome.value,
        "reason": wording.describe_reason(gate, line),
    }


def _chances(chances: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in chances.items()}


def render_junit(gate: Gate) -> str:
    """Render one test for each comparison: a failure if it is worse, an error if nothing can be told."""
    cases = [_make_case(gate, line) for line in gate.lines]
    summary = (wording.describe_gate(gate), *wording.list_notes(gate))
    if gate.outcome is Outcome.UNCLEAR and not gate.find_lines(Outcome.UNCLEAR):
        why = "; ".join(summary[1:]) or summary[0]
        cases.append(Case("campaign", "campaign", "error", Outcome.UNCLEAR.value, why))
    return junit.render("runoff gate", cases, "\n".join(summary))


def _make_case(gate: Gate, line: Line) -> Case:
    name = f"{line.table.metric.title}: {line.arm}{f' on {line.machine}' if line.machine else ''}"
    if line.outcome is Outcome.FINE:
        return Case(line.table.place, name)
    kind: Literal["failure", "error"] = "failure" if EXIT_CODES[line.outcome] == 1 else "error"
    return Case(line.table.place, name, kind, line.outcome.value, wording.describe_line(gate, line))
