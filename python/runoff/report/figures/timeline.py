"""What a disk did over time: the head's position, requests served, times held idle, and how many requests waited."""

from runoff.report.figures import movement
from runoff.report.figures.axis import Axis
from runoff.report.figures.disk_times import Timeline
from runoff.report.figures.movement import LEFT, LEGEND_ROW, RIGHT, WIDTH
from runoff.report.figures.svg import Canvas, number

TOP = 24
HEIGHT = 220
GAP = 22
STRIP = 54
"""Height of the part that shows how many waited."""


def draw(timeline: Timeline) -> str:
    """Return a picture for the page, of bounded size: `MOST_MOVES` bars, and one step a pixel."""
    bottom = TOP + HEIGHT
    floor = bottom + GAP + STRIP
    canvas = Canvas(WIDTH, timeline.caption)
    times = Axis(0, timeline.shown_ms, LEFT, WIDTH - RIGHT)
    positions = [move.cylinder for move in timeline.moves] or [0.0]
    places = Axis.from_range(min(positions), max(positions), bottom, TOP)
    held = "".join(_render_held(times, start, until) for start, until in timeline.held)
    if held:
        canvas.path(held, "held")
    movement.draw_grid(canvas, times, places, floor)
    canvas.text(WIDTH - RIGHT + 14, floor + 16, "ms", "tick")
    canvas.text(LEFT - 8, TOP - 10, timeline.unit, "tick", "end")
    movement.draw_ways(canvas, times, places, timeline.moves)
    for index, process in enumerate(timeline.processes):
        own = [move for move in timeline.moves if move.process == process]
        movement.draw_bars(canvas, times, places, own, index)
        about = f"{len(own)} requests, {_size(sum(move.kb for move in own))}"
        movement.draw_legend(canvas, floor + 40 + LEGEND_ROW * index, index, process, about, width=330)
    _strip(canvas, times, timeline, floor)
    return canvas.render(floor + 40 + LEGEND_ROW * len(timeline.processes))


def _size(kb: float) -> str:
    return f"{kb / 1024:.1f} MiB" if kb >= 1024 else f"{kb:g} KiB"


def _render_held(times: Axis, start: float, until: float) -> str:
    left, right = times.locate(start), times.locate(until)
    return f"M{number(left)} {TOP}h{number(max(right - left, 0.5))}v{HEIGHT}H{number(left)}z"


def _strip(canvas: Canvas, times: Axis, timeline: Timeline, floor: float) -> None:
    columns = _columns(times, timeline)
    most = max(columns.values(), default=0)
    depths = Axis(0, max(most, 1), floor, floor - STRIP)
    for value in (0, max(most, 1)):
        canvas.line(LEFT, depths.locate(value), WIDTH - RIGHT, depths.locate(value), "grid")
        canvas.text(LEFT - 8, depths.locate(value) + 4, str(value), "tick", "end")
    canvas.text(WIDTH - RIGHT + 4, floor - STRIP + 4, "wait", "tick")
    outline = "".join(f"H{column}V{number(depths.locate(depth))}" for column, depth in columns.items())
    canvas.path(f"M{LEFT} {number(floor)}{outline}H{WIDTH - RIGHT}V{number(floor)}z", "depth")


def _columns(times: Axis, timeline: Timeline) -> dict[int, int]:
    """Return by pixel where it changes the most requests that waited until the next."""
    columns: dict[int, int] = {}
    for at, depth in timeline.waiting:
        column = round(times.locate(at))
        columns[column] = max(depth, columns.get(column, 0))
        columns[min(column + 1, WIDTH - RIGHT)] = depth
    return columns
