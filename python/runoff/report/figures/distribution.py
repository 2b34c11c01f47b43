"""Every sample, its box plot and the interval of its mean, one row per arm on a common axis."""

from collections.abc import Callable

from runoff.analysis.table import Table
from runoff.report.figures.axis import Axis, LogAxis, is_wide
from runoff.report.figures.svg import Canvas, number, render_dots
from runoff.report.words.layout import cut_middle, find_distinct_width
from runoff.report.words.numbers import Scale
from runoff.report.words.wording import name_mean
from runoff.statistics import Quantiles, Summary, Verdict

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
    if centre := table.find_centre(baseline):
        x = axis.locate(scale.scaled(centre[0]))
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
    if table.is_unmeasured(arm):
        return "not measured"
    voids = table.count_lost(arm).void
    return f"no valid sample ({voids} void)" if voids else "not run yet"


def _axis_title(table: Table, scale: Scale) -> str:
    return f"{table.metric.title} ({scale.unit})" if scale.unit else table.metric.title


def _axis(table: Table, scale: Scale, left: float) -> Axis | LogAxis:
    values = [scale.scaled(point.value) for point in table.points]
    if is_wide(values):
        return LogAxis.from_range(min(values), max(values), left, WIDTH - 14)
    centres = [table.find_centre(arm) for arm in table.analysis.summaries]
    intervals = [centre[1] for centre in centres if centre is not None and centre[1] is not None]
    values += [scale.scaled(end) for ci in intervals for end in (ci.low, ci.high)]
    return Axis.from_range(min(values), max(values), left, WIDTH - 14)


def _diamond(canvas: Canvas, axis: Axis | LogAxis, scale: Scale, table: Table, arm: str, y: float) -> None:
    """Draw the interval of the mean, unless there is no such centre."""
    centre = table.find_centre(arm)
    mean, ci = centre or (0.0, None)
    if ci is None or table.find_heaps(arm) is not None:
        return
    verdict = table.analysis.comparisons[arm].verdict
    left, middle, right = (axis.locate(scale.scaled(value)) for value in (ci.low, mean, ci.high))
    d = f"M{number(left)} {number(y)}L{number(middle)} {number(y - 12)}L{number(right)} {number(y)}"
    tip = f"{arm}: {name_mean(table)} {scale.plain(mean)} {scale.unit}, 95 % CI {scale.range(ci)}"
    style = STYLES.get(verdict, "ci") if verdict else "ci"
    canvas.path(f"{d}L{number(middle)} {number(y + 12)}ZM{number(middle)} {number(y - 12)}v24", style, tip)


def _row(canvas: Canvas, axis: Axis | LogAxis, scale: Scale, table: Table, summary: Summary, middle: float) -> None:
    def locate(value: float) -> float:
        return axis.locate(scale.scaled(value))

    strip = middle - 9
    _diamond(canvas, axis, scale, table, summary.arm, strip)
    places = sorted(locate(point.value) for point in table.points if point.arm == summary.arm)
    canvas.path(render_dots((x, strip + lane) for x, lane in _spread(places)), "dot")
    if summary.quantiles is not None:
        _box(canvas, scale, summary.arm, summary.quantiles, locate, middle + 14)


def _box(
    canvas: Canvas, scale: Scale, arm: str, found: Quantiles, locate: Callable[[float], float], middle: float
) -> None:
    canvas.line(locate(found.minimum), middle, locate(found.maximum), middle, "whisker")
    quartiles = ", ".join(map(scale.plain, (found.q25, found.median, found.q75)))
    left, right = locate(found.q25), locate(found.q75)
    canvas.rect(left, middle - 6, right - left, 12, "box", f"{arm}: quartiles {quartiles}")
    canvas.line(locate(found.median), middle - 6, locate(found.median), middle + 6, "median")


def _spread(places: list[float]) -> list[tuple[float, float]]:
    """Return lanes for dots: a dot that touches the one before goes to the next lane."""
    placed: list[tuple[float, float]] = []
    lane = 0
    for i, x in enumerate(places):
        lane = (lane + 1) % len(LANES) if i and x - places[i - 1] < 5 else 0
        placed.append((x, LANES[lane]))
    return placed
