"""Every sample, its box plot and the interval of its mean, one row per arm on a common axis."""

from runoff.analysis.table import Table
from runoff.report.figures.axis import Axis
from runoff.report.figures.svg import Canvas, number, render_dots
from runoff.report.layout import cut_middle, find_distinct_width
from runoff.report.numbers import Scale
from runoff.statistics import Summary, Verdict

WIDTH = 560
ROW = 52
TOP = 8
NAMES = (16, 30)
PIXELS_PER_LETTER = 7.6
LANES = (0.0, -4.0, 4.0, -8.0, 8.0)
"""Where dots go that would cover each other."""

STYLES = {Verdict.BETTER: "ci better", Verdict.WORSE: "ci worse"}


def draw(table: Table, baseline: str) -> str:
    """Return the picture; without any valid sample, an empty string."""
    if not table.points:
        return ""
    scale = Scale.from_table(table)
    canvas = Canvas(WIDTH, f"{table.place}: {table.metric.title}, samples, quartiles and mean by arm")
    letters = find_distinct_width(table.arms, *NAMES)
    left = 16 + PIXELS_PER_LETTER * letters
    axis = _axis(table, scale, left)
    bottom = TOP + ROW * len(table.arms)
    for value, label in axis.ticks():
        canvas.line(axis.locate(value), TOP, axis.locate(value), bottom, "grid")
        canvas.text(axis.locate(value), bottom + 16, label, "tick", "middle")
    canvas.text((axis.start + axis.end) / 2, bottom + 34, _axis_title(table, scale), "tick", "middle")
    summaries = table.analysis.summaries
    if baseline in summaries:
        x = axis.locate(scale.scaled(summaries[baseline].mean))
        canvas.line(x, TOP, x, bottom, "zero")
    for row, arm in enumerate(table.arms):
        middle = TOP + ROW * (row + 0.5)
        canvas.text(left - 10, middle + 4, cut_middle(arm, letters), "name", "end")
        if arm in summaries:
            _row(canvas, axis, scale, table, summaries[arm], middle)
        else:
            canvas.text(left + 6, middle + 4, _describe_absent(table, arm), "tick")
    return canvas.render(bottom + 42)


def _describe_absent(table: Table, arm: str) -> str:
    if arm in table.lacking:
        return "not measured"
    voids = table.count_voids(arm)
    return f"no valid sample ({voids} void)" if voids else "not run yet"


def _axis_title(table: Table, scale: Scale) -> str:
    return f"{table.metric.title} ({scale.unit})" if scale.unit else table.metric.title


def _axis(table: Table, scale: Scale, left: float) -> Axis:
    values = [scale.scaled(point.value) for point in table.points]
    intervals = [s.ci for s in table.analysis.summaries.values() if s.ci]
    values += [scale.scaled(end) for ci in intervals for end in (ci.low, ci.high)]
    return Axis.from_range(min(values), max(values), left, WIDTH - 14)


def _row(canvas: Canvas, axis: Axis, scale: Scale, table: Table, summary: Summary, middle: float) -> None:
    def locate(value: float) -> float:
        return axis.locate(scale.scaled(value))

    strip, box = middle - 9, middle + 14
    if summary.ci:
        verdict = table.analysis.comparisons[summary.arm].verdict
        low, mean, high = locate(summary.ci.low), locate(summary.mean), locate(summary.ci.high)
        d = f"M{number(low)} {number(strip)}L{number(mean)} {number(strip - 12)}L{number(high)} {number(strip)}"
        tip = f"{summary.arm}: mean {scale.plain(summary.mean)} {scale.unit}, 95 % CI {scale.range(summary.ci)}"
        style = STYLES.get(verdict, "ci") if verdict else "ci"
        canvas.path(f"{d}L{number(mean)} {number(strip + 12)}ZM{number(mean)} {number(strip - 12)}v24", style, tip)
    places = sorted(locate(point.value) for point in table.points if point.arm == summary.arm)
    canvas.path(render_dots((x, strip + lane) for x, lane in _spread(places)), "dot")
    canvas.line(locate(summary.minimum), box, locate(summary.maximum), box, "whisker")
    quartiles = ", ".join(map(scale.plain, (summary.q25, summary.median, summary.q75)))
    canvas.rect(
        locate(summary.q25),
        box - 6,
        locate(summary.q75) - locate(summary.q25),
        12,
        "box",
        f"{summary.arm}: quartiles {quartiles}",
    )
    canvas.line(locate(summary.median), box - 6, locate(summary.median), box + 6, "median")


def _spread(places: list[float]) -> list[tuple[float, float]]:
    """Return lanes for dots: a dot that touches the one before goes to the next lane."""
    placed: list[tuple[float, float]] = []
    lane = 0
    for i, x in enumerate(places):
        lane = (lane + 1) % len(LANES) if i and x - places[i - 1] < 5 else 0
        placed.append((x, LANES[lane]))
    return placed
