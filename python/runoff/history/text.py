"""A history for a terminal."""

from collections.abc import Iterator

from rich.text import Text

from runoff.history.values import Change, History, Series
from runoff.history.wording import (
    LEGEND,
    describe_change,
    describe_differences,
    describe_heading,
    describe_left_out,
    describe_outcome,
    describe_title,
    list_columns,
)
from runoff.report.figures.axis import Axis
from runoff.report.terminal.screen import NARROWEST, render_lines
from runoff.report.terminal.table import STYLES, Column, fit_columns, measure_columns, render_columns
from runoff.report.words.layout import cut_middle, wrap
from runoff.text import escape_line

SHORTEST_NAME = 12
NARROWEST_PLOT = 16
WIDEST_PLOT = 48
POINT, LINE, LEVEL = "o", "-", ":"
EXPENDABLE = {"its 95 % CI": 5, "commit": 4, "day": 3, "n": 2, "machine": 1}
"""Columns that go first, highest number first, when room is short."""
LEFT = ("commit", "machine", "day")
"""Columns of words."""


def render_text(history: History, width: int = 80, colour: bool = False) -> str:
    """Return the history, no line longer than ``width`` (at least 40)."""
    width = max(width, NARROWEST)
    return render_lines(_list_lines(history, width), width, colour)


def _list_lines(history: History, width: int) -> Iterator[Text]:
    yield from _plain(wrap(describe_title(history).replace("  ", ", "), width))
    yield Text()
    label = "VERDICT  "
    for sentence in describe_outcome(history):
        yield from (Text(line, style="bold") for line in wrap(escape_line(sentence), width, label, " " * len(label)))
        label = " " * len(label)
    for series in history.series:
        yield Text()
        yield from _list_series(series, width)
    yield Text()
    for warning in history.warnings:
        yield from _plain(wrap(escape_line(warning), width, "  ! ", "    "))
    if history.warnings:
        yield Text()
    legend = f"{POINT} mean of a campaign, {LINE} its 95 % interval, {LEVEL} level. {LEGEND}"
    yield from (Text(line, style="bright_black") for line in wrap(legend, width))


def _list_series(series: Series, width: int) -> Iterator[Text]:
    yield Text(cut_middle(escape_line(describe_heading(series)), width), style="bold")
    changes = {change.first: change for change in series.changes}
    titles, *rows = _render_rows(series, width)
    yield titles
    for number, row in enumerate(rows):
        if number in changes:
            yield from _list_change(series, changes[number], width)
        yield row
    if left_out := describe_left_out(series):
        yield from _plain(wrap(escape_line(left_out), width, "  ! ", "    "))


def _list_change(series: Series, change: Change, width: int) -> Iterator[Text]:
    style = STYLES.get(change.verdict, "") if change.verdict else ""
    text = escape_line(describe_change(series, change))
    yield from (Text(line, style=style) for line in wrap(text, width, f"  {change.verdict or '*'} ", "    "))
    for difference in describe_differences(change):
        yield from _plain(wrap(escape_line(difference), width, "    ", "      "))


def _render_rows(series: Series, width: int) -> list[Text]:
    """Return the titles and a line for each campaign."""
    (_, campaigns), *others = list_columns(series)
    names = [escape_line(campaign) for campaign in campaigns]
    columns = [Column(title, cells, EXPENDABLE.get(title, 0), left=title in LEFT) for title, cells in others]
    name = min(max(map(len, [*names, "campaign"])), max(SHORTEST_NAME, width // 4))
    columns = fit_columns(columns, width - NARROWEST_PLOT - 2, name)
    room = min(WIDEST_PLOT, width - 2 - name - measure_columns(columns) - 2)
    if room >= NARROWEST_PLOT:
        columns.append(Column("", tuple(_plot(series, room)), left=True))
    shortened = [cut_middle(each, name) for each in names]
    return list(render_columns(shortened, columns, width, title="campaign"))


def _plot(series: Series, room: int) -> Iterator[str]:
    """Yield the characters of each campaign's line, all on one axis."""
    centres = [series.find_centre(entry) for entry in series.entries]
    ends = [end for mean, ci in centres for end in (mean, *((ci.low, ci.high) if ci else ()))]
    axis = Axis.from_range(min(ends), max(ends), 0, room - 1)
    for start, end in series.stretches:
        level = round(axis.locate(series.find_level(start, end)))
        for mean, ci in centres[start:end]:
            cells = [" "] * room
            if ci is not None:
                low, high = round(axis.locate(ci.low)), round(axis.locate(ci.high))
                cells[low : high + 1] = LINE * (high + 1 - low)
            cells[level] = LEVEL
            cells[round(axis.locate(mean))] = POINT
            yield "".join(cells).rstrip()


def _plain(lines: list[str]) -> Iterator[Text]:
    yield from (Text(line) for line in lines)
