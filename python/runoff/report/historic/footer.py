"""What tables that are made to be quoted have in common: how wide their sentences are, and how they end."""

from collections.abc import Iterator

from runoff.analysis.values import Report
from runoff.report.words import wording
from runoff.report.words.layout import wrap

WIDTH = 100
"""Columns that sentences take; tables are as wide as they must be."""


def render_footer(report: Report, about: str) -> Iterator[str]:
    """Yield what the table is ``about``, then the voids and warnings of the campaign."""
    yield ""
    yield from wrap(about, WIDTH)
    for line in wording.list_notes(report):
        yield from wrap(line, WIDTH, "! ", "  ")
