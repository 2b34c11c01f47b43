"""Means with percent faster or slower, and quantiles: the layout of graysky's comparison of October 2012."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report import wording
from runoff.report.historic.footer import render_footer
from runoff.report.numbers import TIME_EXPONENTS, Scale

GAP = "  "

DECIMALS = 4
"""Of means and their difference."""

DIGITS = 7
"""Of quantiles; zeros at the end are left out, as they were then."""

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
        yield from _means(report, table)
        yield from _quantiles(report, table)
    about = (
        f"Result is the difference of the means in percent of {report.baseline}'s. No test stands behind these tables: "
        "the report without --table says which differences are real."
    )
    yield from render_footer(report, about)


def _means(report: Report, table: Table) -> Iterator[str]:
    """Yield one table for each arm that is not the baseline: a row for the machine, as he had one for each of seven."""
    unit = Scale.from_table(table).unit
    average = f"Average Time ({'sec' if unit == 's' else unit})" if unit in TIME_EXPONENTS else "Average"
    for arm in report.results.arms:
        if arm == report.baseline:
            continue
        cells = [
            ["", report.baseline, arm, "Difference", "Result"],
            [describe_machine(report), *_row(report, table, arm)],
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        widths[1] = max(widths[1], len(average) - widths[2] - len(GAP))
        start = widths[0] + len(GAP)
        beside = start + widths[1] + widths[2] + 2 * len(GAP)
        yield ""
        yield "CPU".ljust(start) + average.ljust(beside - start) + f"{arm} is..."
        yield from (_join_columns(row, widths) for row in cells)


def _join_columns(row: Sequence[str], widths: Sequence[int]) -> str:
    return GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def describe_machine(report: Report) -> str:
    """Return what the row is called: the processor, if the fingerprint has one."""
    known = report.results.fingerprint.get("machine", {})
    return str(known.get("cpu_model") or known.get("cpu") or report.engine)


def _row(report: Report, table: Table, arm: str) -> list[str]:
    scale = replace(Scale.from_table(table), decimals=DECIMALS)
    base, mean = table.find_mean(report.baseline), table.find_mean(arm)
    shown = ["-" if value is None else scale.plain(value) for value in (base, mean)]
    if base is None or mean is None:
        return [*shown, "-", "-"]
    return [*shown, scale.signed(mean - base), _result(table, base, mean)]


def _result(table: Table, base: float, mean: float) -> str:
    """Return e.g. ``1.9 % faster`` for times, ``more`` or ``less`` for other numbers."""
    if not base:
        return "-"
    percent = abs(100 * (mean - base) / base)
    words = ("faster", "slower") if _is_time(table) else ("less", "more")
    return f"{percent:.1f} % {words[mean > base]}" if mean != base else f"{percent:.1f} %"


def _is_time(table: Table) -> bool:
    return table.metric.unit in TIME_EXPONENTS and table.metric.direction == "lower"


def _quantiles(report: Report, table: Table) -> Iterator[str]:
    scale, summaries = Scale.from_table(table), table.analysis.summaries
    rows: list[Sequence[str]] = [QUANTILES]
    for arm in sorted(summaries):
        s = summaries[arm]
        points = (s.minimum, s.q10, s.q25, s.median, s.q75, s.q90, s.maximum)
        rows.append([arm, *(f"{scale.scaled(point):.{DIGITS}g}" for point in points)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield ""
    yield "Quantiles"
    yield from (_join_columns(row, widths) for row in rows)
    missing = [arm for arm in report.results.arms if arm not in summaries]
    runs = [f"{arm} {summaries[arm].n}" for arm in sorted(summaries)] + [f"{arm} 0" for arm in missing]
    yield f"Number of runs: {', '.join(runs)}"
