"""Where the head of a disk is: a line for its way, a bar wherever it serves a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runoff.report.figures.axis import Axis
from runoff.report.figures.svg import COLOURS, Canvas, number

WIDTH = 780
LEFT = 58
RIGHT = 36
TOP = 58
HEIGHT = 260
BAR = 6
LEGEND_ROW = 20


@dataclass(frozen=True, slots=True)
class Move:
    """One request; times in ms since the start of the picture."""

    process: str
    kb: float
    at: float
    reached: float
    """When the head was there."""
    done: float
    from_cylinder: float
    cylinder: float

    @classmethod
    def from_row(cls, row: Mapping[str, str]) -> "Move":
        """Parse one row that the example ``head_movement`` prints."""
        return cls(
            process=row["process"],
            kb=float(row["kb"]),
            at=float(row["at_ms"]),
            reached=float(row["reached_ms"]),
            done=float(row["done_ms"]),
            from_cylinder=float(row["from_cylinder"]),
            cylinder=float(row["cylinder"]),
        )


def draw(title: str, about: str, moves: Sequence[Move], processes: Sequence[str], shown_ms: float) -> str:
    """Return a picture of its own; every process has its colour in every picture, even if it got nothing."""
    bottom = TOP + HEIGHT
    canvas = Canvas(WIDTH, f"{title}: {about}")
    times = Axis(0, shown_ms, LEFT, WIDTH - RIGHT)
    cylinders = Axis(0, 60_000, bottom, TOP)
    canvas.text(LEFT, 22, title, "title")
    canvas.text(LEFT, 40, about, "tick")
    draw_grid(canvas, times, cylinders, bottom)
    canvas.text(WIDTH - RIGHT + 14, bottom + 16, "ms", "tick")
    canvas.text(LEFT - 8, TOP - 8, "cylinder", "tick", "end")
    shown = [move for move in moves if move.at < shown_ms]
    draw_ways(canvas, times, cylinders, shown)
    for index, process in enumerate(processes):
        draw_bars(canvas, times, cylinders, [move for move in shown if move.process == process], index)
        draw_legend(
            canvas,
            bottom + 40 + LEGEND_ROW * index,
            index,
            process,
            f"{_compute_rate(shown, process, shown_ms):.1f} MB/s",
        )
    return canvas.render_alone(bottom + 40 + LEGEND_ROW * len(processes))


def draw_grid(canvas: Canvas, times: Axis, cylinders: Axis, bottom: float) -> None:
    """Draw lines and numbers of both axes; those of time stand below ``bottom``."""
    for value, label in times.ticks(9):
        canvas.line(times.locate(value), cylinders.end, times.locate(value), bottom, "grid")
        canvas.text(times.locate(value), bottom + 16, label, "tick", "middle")
    for value, label in cylinders.ticks(4):
        canvas.line(LEFT, cylinders.locate(value), WIDTH - RIGHT, cylinders.locate(value), "grid")
        canvas.text(LEFT - 8, cylinders.locate(value) + 4, label, "tick", "end")


def draw_ways(canvas: Canvas, times: Axis, cylinders: Axis, moves: Sequence[Move]) -> None:
    """Draw how the head moved to each request."""
    canvas.path("".join(_way(times, cylinders, move) for move in moves), "axis")


def draw_bars(canvas: Canvas, times: Axis, cylinders: Axis, moves: Sequence[Move], index: int) -> None:
    """Draw where the head served requests, in the colour of the ``index``-th process."""
    if moves:
        canvas.path("".join(_bar(times, cylinders, move) for move in moves), style(index))


def style(index: int) -> str:
    """Return the style of the ``index``-th process."""
    # The first colour is grey, which is the way of the head.
    return f"a{1 + index % (COLOURS - 1)}"


def _way(times: Axis, cylinders: Axis, move: Move) -> str:
    start, end = cylinders.locate(move.from_cylinder), cylinders.locate(move.cylinder)
    return f"M{number(times.locate(move.at))} {number(start)}L{number(times.locate(move.reached))} {number(end)}"


def _bar(times: Axis, cylinders: Axis, move: Move) -> str:
    left, right = times.locate(move.reached), times.locate(move.done)
    top = cylinders.locate(move.cylinder) - BAR / 2
    return f"M{number(left)} {number(top)}h{number(max(right - left, 0.5))}v{BAR}H{number(left)}z"


def _compute_rate(shown: Sequence[Move], process: str, shown_ms: float) -> float:
    """Return MB/s within the picture."""
    own = [move for move in shown if move.process == process and move.done <= shown_ms]
    return sum(move.kb for move in own) * 1024 / 1e6 / (shown_ms / 1000)


def draw_legend(canvas: Canvas, y: float, index: int, process: str, about: str, width: int = 160) -> None:
    """Draw the colour and name of one process, and a number that ends ``width`` from the left."""
    canvas.rect(LEFT, y - 10, 16, 11, style(index))
    canvas.text(LEFT + 22, y, process, "name")
    canvas.text(LEFT + width, y, about, "name", "end")
