"""A gate for programs: JSON, and the XML that JUnit writes and continuous integration reads."""

import re
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from runoff.decide.gate.values import EXIT_CODES, Gate, Line
from runoff.report.data.json_text import dump, make_head, round_significant
from runoff.report.gate import wording
from runoff.statistics.gate import Outcome
from runoff.text import escape_lines

SCHEMA = "runoff.gate/2"
"""Raised whenever a reader of the last version would misread this one."""

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    count = {outcome: len(gate.find_lines(outcome)) for outcome in Outcome}
    extra = int(gate.outcome is Outcome.UNCLEAR and not count[Outcome.UNCLEAR])
    sums = {
        "tests": str(len(gate.lines) + extra),
        "failures": str(sum(count[outcome] for outcome in Outcome if EXIT_CODES[outcome] == 1)),
        "errors": str(count[Outcome.UNCLEAR] + extra),
    }
    root = ElementTree.Element("testsuites", {"name": "runoff gate", **sums})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "runoff gate", **sums})
    for line in gate.lines:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": _xml(line.table.place), "name": _xml(_name(line))}
        )
        _mark(case, line.outcome, _xml(wording.describe_line(gate, line)))
    if extra:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "campaign", "name": "campaign"})
        _mark(case, Outcome.UNCLEAR, _xml("; ".join(wording.list_notes(gate)) or wording.describe_gate(gate)))
    ElementTree.SubElement(suite, "system-out").text = _xml(
        "\n".join((wording.describe_gate(gate), *wording.list_notes(gate)))
    )
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _name(line: Line) -> str:
    return f"{line.table.metric.title}: {line.arm}{f' on {line.machine}' if line.machine else ''}"


def _mark(case: ElementTree.Element, outcome: Outcome, message: str) -> None:
    if outcome is not Outcome.FINE:
        kind = "failure" if EXIT_CODES[outcome] == 1 else "error"
        ElementTree.SubElement(case, kind, {"message": message, "type": outcome.value.replace(" ", "-")})


def _xml(text: str) -> str:
    """Remove characters that XML cannot contain, not even escaped."""
    return NOT_XML.sub("\ufffd", text)
