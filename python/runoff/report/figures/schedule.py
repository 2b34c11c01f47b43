"""What ran when and where: one row per task, a bar wherever it had a CPU, in that CPU's colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runoff.report.figures.axis import Axis
from runoff.report.figures.svg import COLOURS, Canvas, number

WIDTH = 780
LEFT = 112
RIGHT = 84
TOP = 58
ROW = 36
BAR = 22

Span = tuple[float, float]
"""From and until, in milliseconds."""
Run = tuple[float, float, int]
"""From, until, and the CPU."""


@dataclass(frozen=True, slots=True)
class Row:
    """One task."""

    label: str
    runs: Sequence[Run]
    waits: Sequence[Span] = ()
    """From when it should have woken until it ran."""

    @classmethod
    def from_timeline(cls, label: str, timeline: Mapping[str, Any]) -> "Row":
        """Parse what ``runoff-agent scene --timeline`` writes about one actor."""
        return cls(
            label=label,
            runs=[(start, end, cpu) for start, end, cpu in timeline["runs"]],
            waits=[(due, ran) for due, ran in timeline["waits"]],
        )


def draw(title: str, about: str, rows: Sequence[Row], window: Span) -> str:
    """Return a picture of its own of what happened within ``window``; its axis begins at 0."""
    bottom = TOP + ROW * len(rows)
    canvas = Canvas(WIDTH, f"{title}: {about}")
    axis = Axis(0, window[1] - window[0], LEFT, WIDTH - RIGHT)
    canvas.text(LEFT, 22, title, "title")
    canvas.text(LEFT, 40, about, "tick")
    canvas.text(WIDTH - RIGHT + 8, TOP - 8, "of a CPU", "tick")
    for value, label in axis.ticks(7):
        canvas.line(axis.locate(value), TOP, axis.locate(value), bottom, "grid")
        canvas.text(axis.locate(value), bottom + 16, label, "tick", "middle")
    for index, row in enumerate(rows):
        _row(canvas, axis, row, window, TOP + ROW * (index + 0.5))
    canvas.text(WIDTH - RIGHT + 16, bottom + 16, "ms", "tick")
    _legend(canvas, bottom + 36, 1 + max((cpu for row in rows for _, _, cpu in row.runs), default=0))
    return canvas.render_alone(bottom + 48)


def _row(canvas: Canvas, axis: Axis, row: Row, window: Span, middle: float) -> None:
    canvas.text(LEFT - 10, middle + 4, row.label, "name", "end")
    waits = _clip(row.waits, window)
    if waits:
        canvas.path("".join(_line(axis, wait, middle) for wait in waits), "wait")
    used = 0.0
    for cpu in sorted({cpu for _, _, cpu in row.runs}):
        runs = _clip([(start, end) for start, end, on in row.runs if on == cpu], window)
        used += sum(end - start for start, end in runs)
        if runs:
            canvas.path("".join(_bar(axis, run, middle) for run in runs), _colour(cpu))
    share = used / (window[1] - window[0])
    canvas.text(WIDTH - RIGHT + 8, middle + 4, f"{100 * share:.1f} %", "name")


def _clip(spans: Sequence[Span], window: Span) -> list[Span]:
    """Return the parts inside the window, counted from its start."""
    cut = [(max(start, window[0]) - window[0], min(end, window[1]) - window[0]) for start, end in spans]
    return [(start, end) for start, end in cut if end > start]


def _bar(axis: Axis, span: Span, middle: float) -> str:
    left, right = axis.locate(span[0]), axis.locate(span[1])
    return f"M{number(left)} {number(middle - BAR / 2)}h{number(max(right - left, 0.5))}v{BAR}H{number(left)}z"


def _line(axis: Axis, span: Span, middle: float) -> str:
    return f"M{number(axis.locate(span[0]))} {number(middle)}H{number(axis.locate(span[1]))}"


def _colour(cpu: int) -> str:
    """Return the colour of a CPU; the first one is not grey, the colour of waiting."""
    return f"a{1 + cpu % (COLOURS - 1)}"


def _legend(canvas: Canvas, y: float, cpus: int) -> None:
    x = float(LEFT)
    for cpu in range(cpus):
        canvas.rect(x, y - 10, 16, 11, _colour(cpu))
        canvas.text(x + 22, y, f"on CPU {cpu}", "tick")
        x += 90
    canvas.line(x, y - 4, x + 16, y - 4, "wait")
    canvas.text(x + 22, y, "its sleep is over, it waits for the CPU", "tick")
