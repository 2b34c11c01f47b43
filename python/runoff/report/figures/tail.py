"""The share of runs above each value, the share on a logarithmic axis: what the worst runs do."""

import math

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.figures.axis import Axis, choose_axis
from runoff.report.figures.order import draw_legend
from runoff.report.figures.svg import COLOURS, Canvas, number
from runoff.report.words.numbers import Scale

WIDTH = 560
TOP = 12
PLOT = 190
LEFT = 58
SHARES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


def draw(report: Report, table: Table) -> str:
    """Return one step line an arm; empty without at least two values of one arm."""
    by_arm = {arm: sorted(p.value for p in table.points if p.arm == arm) for arm in report.results.arms}
    most = max(map(len, by_arm.values()))
    if most < 2:
        return ""
    scale = Scale.from_table(table)
    canvas = Canvas(WIDTH, f"{table.place}: {table.metric.title}, share of runs above each value")
    values = [scale.scaled(value) for each in by_arm.values() for value in each]
    across = choose_axis(values, LEFT, WIDTH - 8)
    bottom = TOP + PLOT
    upward = Axis(math.log(0.7 / most), 0.0, bottom, TOP)
    for share in SHARES:
        if math.log(share) >= upward.low:
            y = upward.locate(math.log(share))
            canvas.line(LEFT, y, WIDTH - 8, y, "grid")
            canvas.text(LEFT - 6, y + 4, f"{100 * share:g} %", "tick", "end")
    for value, label in across.ticks():
        canvas.line(across.locate(value), TOP, across.locate(value), bottom, "grid")
        canvas.text(across.locate(value), bottom + 16, label, "tick", "middle")
    for index, each in enumerate(by_arm.values()):
        if each:
            canvas.path(_steps([across.locate(scale.scaled(v)) for v in each], upward), f"steps s{index % COLOURS}")
    unit = f" ({scale.unit})" if scale.unit else ""
    canvas.text((LEFT + WIDTH) / 2, bottom + 34, f"share of runs above {table.metric.title}{unit}", "tick", "middle")
    return canvas.render(draw_legend(canvas, report.results.arms, bottom + 56))


def _steps(places: list[float], upward: Axis) -> str:
    """Return the steps from all runs down to one, then to the end of the axis."""
    d = [f"M{LEFT} {number(upward.locate(0.0))}"]
    for taken, x in enumerate(places, 1):
        left = len(places) - taken
        d.append(f"H{number(x)}V{number(upward.locate(math.log(left / len(places))) if left else upward.start)}")
    return "".join(d)
