"""The change of each arm over the number of CPUs, as a curve with its intervals."""

import math

from runoff.matrix.sizes.values import Cell, Group, SizeSweep
from runoff.report.figures.axis import Axis
from runoff.report.figures.forest import STYLES
from runoff.report.figures.svg import Canvas, number, render_mark
from runoff.report.words.layout import cut_middle
from runoff.report.words.numbers import choose_percent_decimals, format_change, format_change_range

WIDTH, HEIGHT = 640, 300
LEFT, TOP, BOTTOM = 62, 26, 44
RIGHT = 150
BESIDE = 9.0
"""Pixels between the intervals of two arms at one size."""
LETTERS = 18
LINE = 13.0
"""Least distance of two names."""
COLOURS = 6


def draw(sweep: SizeSweep, group: Group) -> str:
    """Return the picture; empty where no change has a percent."""
    drawn = {arm: [c for c in group.list_cells(arm) if c.comparison.percent is not None] for arm in sweep.arms}
    drawn = {arm: cells for arm, cells in drawn.items() if cells}
    if not drawn:
        return ""
    canvas = Canvas(WIDTH, f"{group.heading}, {group.metric.title}: change over the number of CPUs")
    x = Axis.from_range(math.log2(sweep.sizes[0]), math.log2(sweep.sizes[-1]), LEFT + 14, WIDTH - RIGHT - 14)
    y = _make_axis([cell for cells in drawn.values() for cell in cells])
    _draw_frame(canvas, sweep, group, x, y)
    ends = []
    for place, (arm, cells) in enumerate(drawn.items()):
        shift = BESIDE * (place - (len(drawn) - 1) / 2)
        points = [(x.locate(math.log2(cell.cpus)) + shift, y.locate(cell.comparison.percent or 0.0)) for cell in cells]
        way = "L".join(f"{number(across)} {number(down)}" for across, down in points)
        canvas.path(f"M{way}", f"steps s{1 + place % COLOURS}")
        for cell, (across, down) in zip(cells, points, strict=True):
            _draw_cell(canvas, cell, across, down, y)
        ends.append((points[-1][1], arm))
    last = -math.inf
    for down, arm in sorted(ends):
        last = max(down, last + LINE)
        canvas.text(WIDTH - RIGHT + 8, last + 4, cut_middle(arm, LETTERS), "name")
    return canvas.render(max(HEIGHT, last + LINE))


def _make_axis(cells: list[Cell]) -> Axis:
    margin = 100 * cells[0].table.analysis.question.margin
    shown = [cell.comparison.percent or 0.0 for cell in cells]
    known = [cell.comparison.percent_interval for cell in cells if cell.comparison.percent_interval]
    low = min([-2 * margin, *shown, *(interval.low for interval in known)])
    high = max([2 * margin, *shown, *(interval.high for interval in known)])
    return Axis.from_range(low, high, HEIGHT - BOTTOM, TOP)


def _draw_frame(canvas: Canvas, sweep: SizeSweep, group: Group, x: Axis, y: Axis) -> None:
    right = WIDTH - RIGHT
    margin = 100 * group.tables[0][1].analysis.question.margin
    canvas.rect(LEFT, y.locate(margin), right - LEFT, y.locate(-margin) - y.locate(margin), "margin")
    for value, label in y.ticks(6):
        canvas.line(LEFT, y.locate(value), right, y.locate(value), "grid")
        canvas.text(LEFT - 8, y.locate(value) + 4, f"{label} %", "tick", "end")
    canvas.line(LEFT, y.locate(0), right, y.locate(0), "zero")
    last = -math.inf
    for cpus in sweep.sizes:
        place = x.locate(math.log2(cpus))
        if place - last >= 8.0 * (len(str(cpus)) + 1):
            canvas.text(place, HEIGHT - BOTTOM + 18, str(cpus), "tick", "middle")
            last = place
    canvas.text((LEFT + right) / 2, HEIGHT - 6, "CPUs", "name", "middle")
    heading = f"{group.heading}: {group.metric.title}, {group.metric.direction} is better"
    canvas.text(2, 14, cut_middle(heading, 84), "group")


def _draw_cell(canvas: Canvas, cell: Cell, across: float, down: float, y: Axis) -> None:
    comparison, decimals = cell.comparison, choose_percent_decimals(cell.table)
    verdict, interval, percent = comparison.verdict, comparison.percent_interval, comparison.percent or 0.0
    style = STYLES.get(verdict, "neutral") if verdict else "neutral"
    tip = f"{cell.arm}, {cell.cpus} CPUs: {format_change(percent, decimals)}"
    if interval is not None:
        tip += f", 95 % CI {format_change_range(interval, percent, decimals)}"
        canvas.line(across, y.locate(interval.low), across, y.locate(interval.high), f"span {style}")
    if verdict:
        tip += f", {verdict.word}"
    canvas.path(render_mark("circle", across, down), f"point {style}", tip)
