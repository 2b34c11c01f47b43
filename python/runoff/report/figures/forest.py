"""All changes against the baseline on one axis, with the margin within which arms are the same."""

import math
from dataclasses import dataclass

from runoff.analysis.sweep import Sweep
from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.figures.change_axis import ChangeAxis
from runoff.report.figures.svg import Canvas, render_mark
from runoff.report.words.counterparts import list_drawn
from runoff.report.words.layout import cut_middle, find_distinct_width
from runoff.report.words.numbers import choose_percent_decimals, format_change, format_change_range
from runoff.report.words.wording import render_short_heading
from runoff.statistics import Comparison, Interval, Verdict

TOP = 6
PIXELS_PER_LETTER = 7.4
NAMES = (18, 30)
"""Letters of a name in a column of its own."""
NARROWEST_BAND = 2
"""Pixels below which the margin cannot be seen."""

BAND = "margin"
"""The class of the band within which arms are the same, if it is wide enough to be drawn."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a picture of some width, in pixels, has names and values: in columns, or in a line above each interval."""

    width: int
    heading: int
    """Height of a table's heading."""
    letters: int
    """The longest heading."""
    row: int
    """Height of a row."""
    middle: int
    """Where the interval is, from the top of its row."""
    ticks: int
    has_columns: bool
    most_rows: float = math.inf
    """A page does not have a longer picture twice."""


WIDE = Form(600, 26, 84, 22, 11, 6, has_columns=True)
NARROW = Form(360, 26, 50, 40, 26, 4, has_columns=False, most_rows=60)
VALUES = 122
"""Width of the column of values."""
EDGE = 10
"""What is left beside intervals that have the whole width."""

STYLES = {Verdict.BETTER: "better", Verdict.WORSE: "worse"}


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One interval."""

    name: str
    comparison: Comparison
    interval: Interval
    """In percent."""
    is_machine: bool = False
    """Whether it is of one machine, below the arm's row over all machines."""


def draw(report: Report, form: Form = WIDE) -> str:
    """Return the picture; an empty string if no headline table has a percent interval, or it would be too long."""
    tables = [(table, select_changes(table, report.sweep)) for table in list_drawn(report)]
    tables = [(table, rows) for table, rows in tables if rows]
    if not tables or sum(len(rows) for _, rows in tables) > form.most_rows:
        return ""
    margin = 100 * tables[0][0].analysis.question.margin
    bottom = TOP + sum(form.heading + form.row * len(rows) for _, rows in tables)
    canvas = Canvas(form.width, f"change against {report.baseline} in percent, with intervals")
    letters = find_distinct_width([row.name for _, rows in tables for row in rows], *NAMES)
    ends = (16 + PIXELS_PER_LETTER * letters, form.width - VALUES) if form.has_columns else (EDGE, form.width - EDGE)
    axis = ChangeAxis.from_intervals([row.interval for _, rows in tables for row in rows], margin, *ends)
    unit = "" if axis.is_logarithmic else " %"
    band = axis.locate(margin) - axis.locate(-margin)
    if band >= NARROWEST_BAND:
        canvas.rect(axis.locate(-margin), TOP, band, bottom - TOP, BAND)
    for value, label in axis.ticks(form.ticks):
        canvas.line(axis.locate(value), TOP, axis.locate(value), bottom, "grid")
        canvas.text(axis.locate(value), bottom + 16, f"{label}{unit}", "tick", "middle")
    canvas.line(axis.locate(0), TOP, axis.locate(0), bottom, "zero")
    y = float(TOP)
    for table, rows in tables:
        y += form.heading
        canvas.text(2, y - 8, _render_heading(table, form.letters), "group")
        for row in rows:
            _words(canvas, form, axis, row, y, letters, choose_percent_decimals(table))
            _interval(canvas, axis, row, y + form.middle, choose_percent_decimals(table))
            y += form.row
    return canvas.render(bottom + 24)


def has_band(picture: str) -> bool:
    """Return whether a picture shows the margin."""
    return f'class="{BAND}"' in picture


def select_changes(table: Table, sweep: Sweep | None = None) -> list[ForestRow]:
    """Return the comparisons that have an interval, each arm before its machines.

    Arms are in the order of the table's rows, those of a ``sweep`` in the order of their values.
    """
    rows = []
    for arm in sweep.order if sweep is not None else table.arms:
        over_all = table.analysis.comparisons[arm]
        if over_all.percent_interval:
            name = arm if sweep is None else sweep.describe(arm)
            rows.append(ForestRow(name, over_all, over_all.percent_interval))
        for name, analysis in table.analysis.machines.items():
            own = analysis.comparisons[arm]
            if own.percent_interval:
                rows.append(ForestRow(name, own, own.percent_interval, is_machine=True))
    return rows


def _render_heading(table: Table, most: int) -> str:
    """Return what a table is of, and which way is better where ``most`` letters are enough: verdicts say that too."""
    heading = render_short_heading(table)
    whole = f"{heading}, {table.metric.direction} is better" if table.is_judged else heading
    return whole if len(whole) <= most else cut_middle(heading, most)


def _words(canvas: Canvas, form: Form, axis: ChangeAxis, row: ForestRow, y: float, letters: int, decimals: int) -> None:
    """Write the name and the value of a row."""
    name = cut_middle(row.name, letters)
    name_style = "name tick" if row.is_machine else "name"
    verdict = row.comparison.verdict
    value = format_change(row.comparison.percent or 0.0, decimals) + (f", {verdict.word}" if verdict else "")
    value_style = f"value {_choose_style(row)}"
    if form.has_columns:
        canvas.text(axis.start - 10, y + form.middle + 4, name, name_style, "end")
        canvas.text(axis.end + 8, y + form.middle + 4, value, value_style)
    else:
        canvas.text(2, y + 13, name, name_style)
        canvas.text(form.width - 2, y + 13, value, value_style, "end")


def _interval(canvas: Canvas, axis: ChangeAxis, row: ForestRow, y: float, decimals: int) -> None:
    comparison, interval = row.comparison, row.interval
    style = _choose_style(row)
    canvas.line(axis.locate(interval.low), y, axis.locate(interval.high), y, f"span {style}")
    percent = comparison.percent or 0.0
    where = f", {row.name}" if row.is_machine else ""
    shown = f"{format_change(percent, decimals)}, 95 % CI {format_change_range(interval, percent, decimals)}"
    tip = f"{comparison.arm}{where}: {shown}"
    mark = ("left", "circle" if row.is_machine else "square", "right")[axis.compare(percent) + 1]
    canvas.path(render_mark(mark, axis.locate(percent), y), f"point {style}", tip)
    for end in (interval.low, interval.high):
        if axis.compare(end) and not axis.compare(percent):
            canvas.path(
                render_mark("left" if axis.compare(end) < 0 else "right", axis.locate(end), y), f"point {style}"
            )


def _choose_style(row: ForestRow) -> str:
    verdict = row.comparison.verdict
    return STYLES.get(verdict, "neutral") if verdict else "neutral"
