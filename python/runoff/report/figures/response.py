"""The response of a metric to one parameter as a curve, and to two as a map."""

import math
from collections.abc import Mapping

from runoff.analysis.sweep import Sweep
from runoff.analysis.table import Table
from runoff.report.figures.axis import Axis
from runoff.report.figures.forest import STYLES
from runoff.report.figures.svg import Canvas, number, render_mark
from runoff.report.words import wording
from runoff.report.words.layout import cut_middle
from runoff.report.words.numbers import choose_percent_decimals, format_change, format_change_range, format_percent
from runoff.statistics import Comparison, Verdict

WIDTH = 640
HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 62, 18, 26, 44
PIXELS_PER_LETTER = 7.4
MOST_LABELS = 12
LARGEST_RATIO = 20.0
"""Largest ratio of values on a linear axis; beyond it they are spread by their logarithms."""

FIELD, ROW, GAP = 84, 30, 2
MAP_LEFT, MAP_TOP = 120, 58


def draw(table: Table, sweep: Sweep) -> str:
    """Return the picture; empty where there is no percent, or where more than two parameters vary."""
    comparisons = {arm: table.analysis.comparisons[arm] for arm in sweep.order}
    if all(comparison.percent is None for comparison in comparisons.values()):
        return ""
    if len(sweep.parameters) == 1:
        return _draw_curve(table, sweep, comparisons)
    return _draw_map(table, sweep, comparisons) if len(sweep.parameters) == 2 else ""


def _draw_curve(table: Table, sweep: Sweep, comparisons: Mapping[str, Comparison]) -> str:
    canvas = Canvas(WIDTH, f"{wording.render_short_heading(table)}: response to {sweep.parameters[0]}")
    places = _place_values(sweep)
    margin = 100 * table.analysis.question.margin
    known = [c.percent_interval for c in comparisons.values() if c.percent_interval]
    shown = [c.percent for c in comparisons.values() if c.percent is not None]
    low = min([-2 * margin, *shown, *(interval.low for interval in known)])
    high = max([2 * margin, *shown, *(interval.high for interval in known)])
    y = Axis.from_range(low, high, HEIGHT - BOTTOM, TOP)
    _draw_frame(canvas, table, sweep, y, margin, places)
    means = [(places[arm], c.percent or 0.0) for arm, c in comparisons.items() if _is_shown(c, arm, sweep)]
    way = "L".join(f"{number(x)} {number(y.locate(value))}" for x, value in means)
    canvas.path(f"M{way}", "steps curve")
    for arm, comparison in comparisons.items():
        if _is_shown(comparison, arm, sweep):
            _draw_value(canvas, table, sweep, arm, comparison, places[arm], y)
    return canvas.render(HEIGHT)


def _is_shown(comparison: Comparison, arm: str, sweep: Sweep) -> bool:
    return comparison.percent is not None or arm == sweep.baseline


def _draw_frame(
    canvas: Canvas, table: Table, sweep: Sweep, y: Axis, margin: float, places: Mapping[str, float]
) -> None:
    right = WIDTH - RIGHT
    canvas.rect(LEFT, y.locate(margin), right - LEFT, y.locate(-margin) - y.locate(margin), "margin")
    for value, label in y.ticks(6):
        canvas.line(LEFT, y.locate(value), right, y.locate(value), "grid")
        canvas.text(LEFT - 8, y.locate(value) + 4, f"{label} %", "tick", "end")
    canvas.line(LEFT, y.locate(0), right, y.locate(0), "zero")
    labels = sweep.list_values(0)
    letters = int((right - LEFT) / max(1, min(len(labels), MOST_LABELS)) / PIXELS_PER_LETTER)
    last = -math.inf
    for arm in sweep.order:
        text = cut_middle(sweep.values[arm][0], max(3, letters))
        if places[arm] - last >= PIXELS_PER_LETTER * (len(text) + 1):
            canvas.text(places[arm], HEIGHT - BOTTOM + 18, text, "tick", "middle")
            last = places[arm]
    canvas.text((LEFT + right) / 2, HEIGHT - 6, sweep.parameters[0], "name", "middle")
    better = f", {table.metric.direction} is better" if table.is_judged else ""
    canvas.text(2, 14, cut_middle(f"{wording.render_short_heading(table)}{better}", 84), "group")


def _draw_value(
    canvas: Canvas, table: Table, sweep: Sweep, arm: str, comparison: Comparison, x: float, y: Axis
) -> None:
    if arm == sweep.baseline:
        canvas.path(render_mark("diamond", x, y.locate(0)), "point default", f"{sweep.describe(arm)}: the baseline")
        canvas.text(x, y.locate(0) + 19, "baseline", "tick halo", "middle")
        return
    decimals = choose_percent_decimals(table)
    style = STYLES.get(comparison.verdict, "neutral") if comparison.verdict else "neutral"
    interval = comparison.percent_interval
    tip = f"{sweep.parameters[0]}={sweep.describe(arm)}: {format_change(comparison.percent or 0.0, decimals)}"
    if interval is not None:
        tip += f", 95 % CI {format_change_range(interval, comparison.percent or 0.0, decimals)}"
        canvas.line(x, y.locate(interval.low), x, y.locate(interval.high), f"span {style}")
    if comparison.verdict:
        tip += f", {comparison.verdict.word}"
    canvas.path(render_mark("circle", x, y.locate(comparison.percent or 0.0)), f"point {style}", tip)


def _place_values(sweep: Sweep) -> dict[str, float]:
    """Return the pixel of each arm: numbers by their size or logarithm, texts one beside the other."""
    numbers = sweep.find_numbers(0)
    if numbers is not None and max(numbers.values()) <= LARGEST_RATIO * max(min(numbers.values()), 1.0):
        scaled = {arm: numbers[values[0]] for arm, values in sweep.values.items()}
    elif numbers is not None and min(numbers.values()) > 0:
        scaled = {arm: math.log(numbers[values[0]]) for arm, values in sweep.values.items()}
    else:
        scaled = {arm: float(place) for place, arm in enumerate(sweep.order)}
    axis = Axis.from_range(min(scaled.values()), max(scaled.values()), LEFT, WIDTH - RIGHT)
    return {arm: axis.locate(value) for arm, value in scaled.items()}


def _draw_map(table: Table, sweep: Sweep, comparisons: Mapping[str, Comparison]) -> str:
    columns, rows = sweep.list_values(0), sweep.list_values(1)
    width = max(WIDTH, MAP_LEFT + FIELD * len(columns))
    canvas = Canvas(width, f"{wording.render_short_heading(table)}: response to {' and '.join(sweep.parameters)}")
    canvas.text(2, 14, cut_middle(wording.render_short_heading(table), 84), "group")
    canvas.text(MAP_LEFT, 36, sweep.parameters[0], "name")
    canvas.text(2, MAP_TOP - 6, cut_middle(sweep.parameters[1], 15), "name")
    largest = max(abs(c.percent or 0.0) for c in comparisons.values()) or 1.0
    arms = {values: arm for arm, values in sweep.values.items()}
    for across, column in enumerate(columns):
        canvas.text(MAP_LEFT + (across + 0.5) * FIELD, MAP_TOP - 6, cut_middle(column, 10), "tick", "middle")
    for down, row in enumerate(rows):
        y = MAP_TOP + down * ROW
        canvas.text(MAP_LEFT - 8, y + ROW / 2 + 4, cut_middle(row, 14), "tick", "end")
        for across, column in enumerate(columns):
            arm = arms.get((column, row))
            if arm is not None:
                _draw_field(canvas, table, sweep, arm, comparisons[arm], MAP_LEFT + across * FIELD, y, largest)
    return canvas.render(MAP_TOP + len(rows) * ROW + 8)


def _draw_field(
    canvas: Canvas,
    table: Table,
    sweep: Sweep,
    arm: str,
    comparison: Comparison,
    x: float,
    y: float,
    largest: float,
) -> None:
    if arm == sweep.baseline:
        style, text, tip = "h0", "baseline", f"{sweep.describe(arm)}: the baseline"
    elif comparison.percent is None:
        style, text, tip = "h-void", "-", f"{sweep.describe(arm)}: no valid sample"
    else:
        shade = 1 + min(4, int(5 * abs(comparison.percent) / largest))
        clear = {Verdict.BETTER: f"b{shade}", Verdict.WORSE: f"h{shade}"}
        style = clear.get(comparison.verdict, "h0") if comparison.verdict else "h0"
        shown = format_percent(comparison.percent, min(1, choose_percent_decimals(table)))
        text = f"{shown} % {comparison.verdict or ''}".rstrip()
        tip = f"{sweep.describe(arm)}: {text}"
    canvas.rect(x, y, FIELD - GAP, ROW - GAP, style, tip)
    canvas.text(x + (FIELD - GAP) / 2, y + ROW / 2 + 3, text, "heat", "middle")
