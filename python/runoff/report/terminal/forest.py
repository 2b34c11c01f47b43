"""All changes against the baseline on one axis, in text."""

from collections.abc import Iterator

from rich.text import Text

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.figures.change_axis import ChangeAxis
from runoff.report.figures.forest import ForestRow, select_changes
from runoff.report.terminal.table import GAP, INDENT, STYLES
from runoff.report.words import wording
from runoff.report.words.counterparts import describe_undrawn, list_drawn
from runoff.report.words.layout import cut_middle, find_distinct_width, wrap
from runoff.report.words.numbers import choose_percent_decimals, format_change
from runoff.statistics import Interval

NARROWEST = 22
"""Columns of a plot that still tells something."""

NAMES = (16, 24)
SHORTEST = 10
NUMBER = 8
MOST_ROWS = 24
"""More of them fill the screen; the page has all."""

ZERO, EDGE, POINT, LINE = "|", ":", "o", "-"

BEYOND = "<>"
"""What is farther out than the axis."""


def render_rows(report: Report, width: int) -> Iterator[Text]:
    """Yield an axis, then a line for each arm under its metric; nothing without a percent interval or without room."""
    tables = [(table, found) for table in list_drawn(report) if (found := select_changes(table, report.sweep))]
    if not tables:
        return
    names = [f"  {row.name}" if row.is_machine else row.name for _, found in tables for row in found]
    name = find_distinct_width([*names, "baseline"] if report.sweep else names, *NAMES)
    taken_up = len(INDENT) + len(GAP) + NUMBER + len(GAP) + 1 + len(GAP)
    name = min(name, max(SHORTEST, width - taken_up - NARROWEST))
    room = width - taken_up - name
    if room < NARROWEST:
        return
    margin = 100 * report.question.margin
    axis = ChangeAxis.from_intervals([row.interval for _, found in tables for row in found], margin, 0, room - 1)
    yield Text(_ticks(axis, width - room, width, "baseline" if report.sweep else report.baseline), style="bright_black")
    taken = 0
    for table, found in tables:
        if taken and taken + len(found) > MOST_ROWS:
            left = sum(len(each) for _, each in tables) - taken
            yield Text(f"{INDENT}... and {left} more below and in the page (--html)"[:width], style="bright_black")
            return
        taken += len(found)
        heading = f"{wording.render_short_heading(table)} ({wording.describe_direction(table)})"
        yield from map(Text, wrap(heading, width, "", INDENT))
        for row in found:
            yield _row(table, row, axis, margin, name)
    if undrawn := describe_undrawn(report):
        yield from (Text(line, style="bright_black") for line in wrap(undrawn, width, "", INDENT))


def _row(table: Table, row: ForestRow, axis: ChangeAxis, margin: float, name: int) -> Text:
    comparison, interval = row.comparison, row.interval
    style = STYLES.get(comparison.verdict, "") if comparison.verdict else ""
    line = Text(INDENT + cut_middle(f"  {row.name}" if row.is_machine else row.name, name).ljust(name) + GAP)
    number = format_change(comparison.percent or 0.0, min(2, choose_percent_decimals(table)))
    line.append(f"{number.rjust(NUMBER)}{GAP}{comparison.verdict or ' '}", style=style)
    line.append(GAP)
    for text, coloured in _plot(comparison.percent or 0.0, interval, axis, margin):
        line.append(text, style=style if coloured else "")
    line.rstrip()
    return line


def _plot(percent: float, interval: Interval, axis: ChangeAxis, margin: float) -> list[tuple[str, bool]]:
    """Return the characters of a line, and which of them belong to the interval."""
    cells: list[tuple[str, bool]] = [(" ", False)] * (round(axis.end) + 1)

    def put(value: float, sign: str, coloured: bool) -> None:
        if not axis.compare(value):
            cells[round(axis.locate(value))] = sign, coloured

    for value, sign in ((-margin, EDGE), (margin, EDGE), (0.0, ZERO)):
        put(value, sign, False)
    low, high = round(axis.locate(interval.low)), round(axis.locate(interval.high))
    is_narrow = high - low < len("[o]") - 1
    if not is_narrow:
        for column in range(low, high + 1):
            if cells[column][0] == " ":
                cells[column] = LINE, True
        cells[low] = (BEYOND[0] if axis.compare(interval.low) < 0 else "["), True
        cells[high] = (BEYOND[1] if axis.compare(interval.high) > 0 else "]"), True
    place = round(axis.locate(percent))
    if beyond := axis.compare(percent):
        cells[place] = BEYOND[beyond > 0], True
    else:
        # Beside the brackets, which half would look like a mistake.
        cells[place if is_narrow else min(max(place, low + 1), high - 1)] = POINT, True
    return cells


def _ticks(axis: ChangeAxis, left: int, width: int, baseline: str) -> str:
    """Return round values over their columns, as many as fit."""
    line = list(" " * width)
    title = f"times {baseline}" if axis.is_logarithmic else f"% against {baseline}"
    for value, text in axis.ticks(max(3, (width - left) // 12)):
        start = left + round(axis.locate(value)) - len(text) // 2
        around = line[max(0, start - 1) : start + len(text) + 1]
        if left <= start and start + len(text) <= width and not any(cell.strip() for cell in around):
            line[start : start + len(text)] = text
    cut = cut_middle(title, left - 1)
    line[: len(cut)] = cut
    return "".join(line).rstrip()
