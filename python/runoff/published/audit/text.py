"""Findings as text, with statements that do not hold first."""

from collections.abc import Iterator, Sequence
from typing import Any

from runoff.published.audit.findings import Finding, Status
from runoff.published.catalogue import Report
from runoff.report.words.layout import wrap

HEADINGS = {
    Status.FAILS: "DOES NOT FOLLOW",
    Status.ONLY_IF: "FOLLOWS ONLY IF",
    Status.UNCHECKED: "CANNOT BE CHECKED",
}


def render(report: Report, findings: Sequence[Finding], width: int) -> str:
    """Return all findings that do not clearly hold, with the numbers; the others are only counted."""
    about = report.about
    lines = wrap(f"{report.name}: {about.title}, {about.author}, {about.date}", width)
    for status in HEADINGS:
        chosen = [finding for finding in findings if finding.status is status]
        lines += ["", f"{HEADINGS[status]} ({len(chosen)})", *_rules(chosen, width)] if chosen else []
    chosen = [finding for finding in findings if finding.status is Status.FOLLOWS]
    lines += ["", f"FOLLOWS ({len(chosen)})", *_counts(findings, width)]
    return "\n".join(lines) + "\n"


def _rules(findings: Sequence[Finding], width: int) -> Iterator[str]:
    for rule in dict.fromkeys(finding.rule for finding in findings):
        yield from wrap(rule, width, "  ", "  ")
        for finding in findings:
            if finding.rule == rule:
                place = f"{finding.place}: " if finding.place else ""
                yield from wrap(place + finding.text, width, "    - ", "      ")


def _counts(findings: Sequence[Finding], width: int) -> Iterator[str]:
    for rule in dict.fromkeys(finding.rule for finding in findings if not finding.claim):
        mine = [finding for finding in findings if finding.rule == rule]
        right = sum(finding.status is Status.FOLLOWS for finding in mine)
        yield from wrap(f"{right} of {len(mine)}: {rule}", width, "  ", "    ")
    said = [finding for finding in findings if finding.claim]
    if said:
        right = sum(finding.status is Status.FOLLOWS for finding in said)
        yield from wrap(f"{right} of {len(said)}: what the text says", width, "  ", "    ")
    for finding in said:
        if finding.status is Status.FOLLOWS:
            place = f", {finding.place}" if finding.place else ""
            yield from wrap(f"{finding.rule}{place}: {finding.text}", width, "    - ", "      ")


def count_statuses(findings: Sequence[Finding]) -> dict[str, int]:
    """Return the number of findings of each status."""
    return {status.value: sum(finding.status is status for finding in findings) for status in Status}


def make_document(report: Report, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return all findings as plain values."""
    return {
        "name": report.name,
        "totals": count_statuses(findings),
        "findings": [
            {
                "rule": finding.rule,
                "place": finding.place,
                "status": finding.status.value,
                "text": finding.text,
                "claim": finding.claim,
            }
            for finding in findings
        ],
    }
