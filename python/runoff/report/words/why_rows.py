"""A panel's counters as rows of finished text."""

from dataclasses import dataclass

from runoff.analysis.why import Explanation, Reason
from runoff.report.words.numbers import Scale
from runoff.report.words.rows import describe_change

LARGEST_SIZE = 1000.0
"""Above this many standard deviations digits say nothing."""


@dataclass(frozen=True, slots=True)
class WhyRow:
    """One counter."""

    title: str
    baseline: str
    mean: str
    change: str
    """Against the baseline: percent, or in the metric's unit."""
    interval: str
    size: str
    """In standard deviations of one run within a block."""


def list_rows(panel: Explanation, baseline: str) -> list[WhyRow]:
    """Return one row for each counter, in the panel's order."""
    return [_row(reason, panel.arm, baseline) for reason in panel.reasons]


def _row(reason: Reason, arm: str, baseline: str) -> WhyRow:
    table = reason.table
    scale = Scale.from_table(table)
    base, mean = (
        f"{scale.plain(table.analysis.summaries[each].mean)} {scale.unit}".strip() for each in (baseline, arm)
    )
    change, interval = describe_change(table, arm, scale)
    return WhyRow(table.metric.title, base, mean, change, interval, _size(reason.size))


def _size(size: float) -> str:
    if abs(size) >= LARGEST_SIZE:
        return f"{'+' if size > 0 else '-'}>{LARGEST_SIZE:.0f}"
    return f"{size:+.1f}"
