"""Means with percent faster or slower, a row for each machine: graysky's tables of October 2012 for seven machines."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.historic.footer import render_footer
from runoff.report.words import wording
from runoff.report.words.numbers import Scale
from runoff.statistics import Analysis
from runoff.units import TIME_EXPONENTS

GAP = "  "

DECIMALS = 4
"""Decimals of means and of their difference."""


def render(report: Report) -> str:
    """Render for each headline metric and arm its means beside the baseline's, machine by machine; ASCII."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield wording.describe_title(report)
    for table in report.headline:
        unit = Scale.from_table(table).unit
        yield ""
        yield f"{wording.render_heading(table)}{f' ({unit})' if unit else ''}"
        yield from render_means(report, table)
    about = (
        f"Result is the difference of the means in percent of {report.baseline}'s. No test stands behind these tables: "
        "the report without --table says which differences are real, and whether machines agree."
    )
    yield from render_footer(report, about)


def render_means(report: Report, table: Table) -> Iterator[str]:
    """Yield one table for each arm that is not the baseline, with a row for each machine."""
    unit = Scale.from_table(table).unit
    average = f"Average Time ({'sec' if unit == 's' else unit})" if unit in TIME_EXPONENTS else "Average"
    for arm in report.results.arms:
        if arm == report.baseline:
            continue
        cells = [["", report.baseline, arm, "Difference", "Result"], *_list_rows(report, table, arm)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        widths[1] = max(widths[1], len(average) - widths[2] - len(GAP))
        start = widths[0] + len(GAP)
        beside = start + widths[1] + widths[2] + 2 * len(GAP)
        yield ""
        yield "CPU".ljust(start) + average.ljust(beside - start) + f"{arm} is..."
        yield from (join_columns(row, widths) for row in cells)


def join_columns(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line of cells, each as wide as its column."""
    return GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def describe_machine(report: Report) -> str:
    """Return what the row is called: the processor, if the fingerprint has one."""
    known = report.results.fingerprint.get("machine", {})
    return str(known.get("cpu_model") or known.get("cpu") or report.engine)


def _list_rows(report: Report, table: Table, arm: str) -> Iterator[list[str]]:
    machines = table.analysis.machines or {describe_machine(report): table.analysis}
    # Of all machines together, so that a column has one unit.
    scale = replace(Scale.from_table(table), decimals=DECIMALS)
    for name, analysis in machines.items():
        yield [name, *_row(table, analysis, scale, report.baseline, arm)]


def _row(table: Table, analysis: Analysis, scale: Scale, baseline: str, arm: str) -> list[str]:
    base, mean = (analysis.summaries[each].mean if each in analysis.summaries else None for each in (baseline, arm))
    shown = ["-" if value is None else scale.plain(value) for value in (base, mean)]
    if base is None or mean is None:
        return [*shown, "-", "-"]
    return [*shown, scale.signed(mean - base), _describe_result(table, base, mean)]


def _describe_result(table: Table, base: float, mean: float) -> str:
    """Return e.g. ``1.9 % faster`` for times, ``more`` or ``less`` for other numbers."""
    if not base:
        return "-"
    percent = abs(100 * (mean - base) / base)
    words = ("faster", "slower") if _is_time(table) else ("less", "more")
    return f"{percent:.1f} % {words[mean > base]}" if mean != base else f"{percent:.1f} %"


def _is_time(table: Table) -> bool:
    return table.metric.unit in TIME_EXPONENTS and table.metric.direction == "lower"
