"""Means with percent faster or slower, and quantiles: the layout of graysky's comparison of October 2012."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.historic.footer import render_footer
from runoff.report.historic.machines import join_columns, render_means
from runoff.report.words import wording
from runoff.report.words.numbers import Scale

DIGITS = 7
"""Digits of quantiles; zeros at the end are left out, as they were then."""

QUANTILES = ("Level", "Minimum", "10%", "25%", "Median", "75%", "90%", "Maximum")


def render(report: Report) -> str:
    """Render for each headline metric the means against the baseline's, then the quantiles of all arms; ASCII."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield wording.describe_title(report)
    for table in report.headline:
        scale = Scale.from_table(table)
        yield ""
        yield f"{wording.render_heading(table)}{f' ({scale.unit})' if scale.unit else ''}"
        yield from render_means(report, table)
        yield from _quantiles(report, table)
    about = (
        f"Result is the difference of the means in percent of {report.baseline}'s. No test stands behind these tables: "
        "the report without --table says which differences are real."
    )
    yield from render_footer(report, about)


def _quantiles(report: Report, table: Table) -> Iterator[str]:
    scale, summaries = Scale.from_table(table), table.analysis.summaries
    rows: list[Sequence[str]] = [QUANTILES]
    for arm in sorted(summaries):
        quantiles = summaries[arm].quantiles
        if quantiles is not None:
            rows.append([arm, *(f"{scale.scaled(point):.{DIGITS}g}" for point in astuple(quantiles))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield ""
    yield "Quantiles"
    yield from (join_columns(row, widths) for row in rows)
    missing = [arm for arm in report.results.arms if arm not in summaries]
    runs = [f"{arm} {summaries[arm].n}" for arm in sorted(summaries)] + [f"{arm} 0" for arm in missing]
    yield f"Number of runs: {', '.join(runs)}"
