"""The pictures that a report has of a table, for its page and as files."""

from collections.abc import Iterator
from typing import NamedTuple

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.figures import distribution, order, response, tail


class TablePictures(NamedTuple):
    """SVG; empty where there is nothing to draw."""

    distribution: str
    order: str
    tail: str


def draw_table(report: Report, table: Table) -> TablePictures:
    """Return the pictures of one table."""
    is_headline = table.metric.headline
    return TablePictures(
        distribution=distribution.draw(table, report.baseline),
        order=order.draw(report, table) if is_headline and report.results.is_paired else "",
        tail=tail.draw(report, table) if is_headline and table.is_percentile else "",
    )


def draw_responses(report: Report) -> Iterator[tuple[Table, str]]:
    """Yield the headline tables of a sweep with the curve or map of each."""
    if report.sweep is None:
        return
    for table in report.headline:
        if picture := response.draw(table, report.sweep):
            yield table, picture
