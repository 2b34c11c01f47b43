"""Value against run order, blocks as bands, voids where they happened."""

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.figures.axis import Axis, choose_axis
from runoff.report.figures.svg import COLOURS, MARKERS, SHAPES, Canvas, number, render_cross, render_mark, render_points
from runoff.report.words.layout import cut_middle, find_distinct_width
from runoff.report.words.numbers import Scale

WIDTH = 560
TOP = 20
PLOT = 170
VOID_LANE = 22
LEFT = 58
NAMES = (24, 40)
LEGEND_ROW = 20
PIXELS_PER_LETTER = 7.6
BLOCK_LABEL_ROOM = 28


def draw(report: Report, table: Table) -> str:
    """Return the picture; without any valid sample, an empty string."""
    if not table.points:
        return ""
    scale = Scale.from_table(table)
    canvas = Canvas(WIDTH, f"{table.place}: {table.metric.title} in run order")
    bottom = TOP + PLOT + (VOID_LANE if table.voids else 0)
    positions = [sample.position for sample in report.results.judged_samples]
    across = Axis(min(positions) - 0.5, max(positions) + 0.5, LEFT, WIDTH - 8)
    values = [scale.scaled(point.value) for point in table.points]
    upward = choose_axis(values, TOP + PLOT, TOP)
    _draw_bands(canvas, report, across, bottom)
    for value, label in upward.ticks(5):
        canvas.line(LEFT, upward.locate(value), WIDTH - 8, upward.locate(value), "grid")
        canvas.text(LEFT - 6, upward.locate(value) + 4, label, "tick", "end")
    for index, arm in enumerate(report.results.arms):
        mine = [point for point in table.points if point.arm == arm]
        d = render_points((across.locate(p.position), upward.locate(scale.scaled(p.value))) for p in mine)
        if d:
            canvas.path(d, f"marks m{index % MARKERS}")
    _draw_voids(canvas, table, across, bottom)
    title = f"{table.metric.title}{f' ({scale.unit})' if scale.unit else ''} in run order; bands are blocks"
    canvas.text((LEFT + WIDTH) / 2, bottom + 15, title, "tick", "middle")
    return canvas.render(draw_legend(canvas, report.results.arms, bottom + 36))


def _draw_bands(canvas: Canvas, report: Report, across: Axis, bottom: float) -> None:
    spans: dict[int, list[int]] = {}
    for sample in report.results.judged_samples:
        spans.setdefault(sample.block, []).append(sample.position)
    shaded = ""
    labelled = float("-inf")
    for block, positions in sorted(spans.items()):
        left, right = across.locate(min(positions) - 0.5), across.locate(max(positions) + 0.5)
        middle = (left + right) / 2
        if block % 2:
            shaded += f"M{number(left)} {TOP}H{number(right)}V{number(bottom)}H{number(left)}z"
        if middle - labelled >= BLOCK_LABEL_ROOM:
            canvas.text(middle, TOP - 7, str(block + 1), "tick", "middle")
            labelled = middle
    if shaded:
        canvas.path(shaded, "band")


def _draw_voids(canvas: Canvas, table: Table, across: Axis, bottom: float) -> None:
    if not table.voids:
        return
    canvas.line(LEFT, bottom - VOID_LANE, WIDTH - 8, bottom - VOID_LANE, "axis")
    canvas.text(LEFT - 6, bottom - 7, "void", "tick", "end")
    for sample in table.voids:
        tip = f"{sample.arm}, block {sample.block + 1}: {sample.reason or 'no reason given'}"
        canvas.path(render_cross(across.locate(sample.position), bottom - VOID_LANE / 2), "void", tip)


def draw_legend(canvas: Canvas, arms: tuple[str, ...], y: float) -> float:
    """Return each arm's mark and name from ``y`` on; returns where they end."""
    x = float(LEFT)
    letters = find_distinct_width(arms, *NAMES)
    for index, arm in enumerate(arms):
        name = cut_middle(arm, letters)
        room = 30 + PIXELS_PER_LETTER * len(name)
        if x + room > WIDTH and x > LEFT:
            x, y = float(LEFT), y + LEGEND_ROW
        canvas.path(render_mark(SHAPES[index % len(SHAPES)], x + 6, y - 4), f"mark a{index % COLOURS}")
        canvas.text(x + 16, y, name, "name")
        x += room
    return y + 8
