"""A series as a picture: campaigns from left to right with their intervals, levels, and changes between them."""

import math

from runoff.history.values import Series
from runoff.history.wording import choose_scale, describe_heading, describe_place, describe_size
from runoff.report.figures.axis import Axis
from runoff.report.figures.forest import STYLES
from runoff.report.figures.svg import Canvas, render_mark
from runoff.report.words.layout import cut_middle
from runoff.text import escape_line

WIDTH, HEIGHT = 860, 270
LEFT, RIGHT, TOP, BOTTOM = 68, 18, 28, 30
PIXELS_PER_LETTER = 7.4
LONGEST_NAME = 16
AIR = 10
"""Pixels between the names of two campaigns."""


def draw(series: Series) -> str:
    """Return the picture."""
    scale = choose_scale(series)
    canvas = Canvas(WIDTH, describe_heading(series))
    centres = [series.find_centre(entry) for entry in series.entries]
    ends = [end for mean, ci in centres for end in (mean, *((ci.low, ci.high) if ci else ()))]
    y = Axis.from_range(scale.scaled(min(ends)), scale.scaled(max(ends)), HEIGHT - BOTTOM, TOP)
    x = Axis(-0.5, len(centres) - 0.5, LEFT, WIDTH - RIGHT)
    for value, label in y.ticks(6):
        canvas.line(LEFT, y.locate(value), WIDTH - RIGHT, y.locate(value), "grid")
        canvas.text(LEFT - 8, y.locate(value) + 4, label, "tick", "end")
    _draw_levels(canvas, series, x, y)
    for place, (entry, (mean, ci)) in enumerate(zip(series.entries, centres, strict=True)):
        tip = f"{escape_line(describe_place(entry))}: {scale.plain(mean)} {scale.unit}".rstrip()
        if ci is not None:
            low, high = scale.scaled(ci.low), scale.scaled(ci.high)
            canvas.line(x.locate(place), y.locate(low), x.locate(place), y.locate(high), "span")
            tip += f", 95 % CI {scale.range(ci)}"
        mark = render_mark("circle", x.locate(place), y.locate(scale.scaled(mean)))
        canvas.path(mark, "point neutral", f"{tip}, n = {entry.summary.n}")
    _draw_names(canvas, series, x)
    return canvas.render(HEIGHT)


def _draw_levels(canvas: Canvas, series: Series, x: Axis, y: Axis) -> None:
    """Draw the level of each stretch, in the colour of the change that it began with, and where that was."""
    scale = choose_scale(series)
    changes = {change.first: change for change in series.changes}
    last = -math.inf
    for start, end in series.stretches:
        change = changes.get(start)
        style = STYLES.get(change.verdict, "neutral") if change and change.verdict else "neutral"
        level = y.locate(scale.scaled(series.find_level(start, end)))
        left, right = x.locate(start - 0.5), x.locate(end - 0.5)
        canvas.rect(left, level - 2, right - left, 4, f"ci {style}")
        if change is None:
            continue
        canvas.line(left, TOP - 8, left, HEIGHT - BOTTOM, "zero")
        text = describe_size(series, change).partition(" [")[0]
        width = PIXELS_PER_LETTER * len(text)
        if left - width / 2 > last:
            canvas.text(min(left, WIDTH - width / 2), TOP - 12, text, f"value {style}", "middle")
            last = left + width / 2 + AIR


def _draw_names(canvas: Canvas, series: Series, x: Axis) -> None:
    """Write the names of as many campaigns as have room, the newest first."""
    free = math.inf
    for place in range(len(series.entries) - 1, -1, -1):
        name = cut_middle(escape_line(series.entries[place].place.campaign), LONGEST_NAME)
        half = PIXELS_PER_LETTER * len(name) / 2
        middle = min(x.locate(place), WIDTH - half)
        if middle + half <= free and middle - half >= 0:
            canvas.text(middle, HEIGHT - BOTTOM + 18, name, "tick", "middle")
            free = middle - half - AIR
