"""Loads against arms: the darker a field, the more the work suffers there."""

import math

from runoff.report.figures.svg import Canvas
from runoff.report.words.layout import cut_middle, find_distinct_width
from runoff.report.words.load_rows import Entry, Matrix
from runoff.report.words.numbers import Scale

WIDTH = 720
LEFT = 170
TOP = 40
ROW = 30
GAP = 2
WIDEST = 130
PIXELS_PER_LETTER = 7.4
SHADES = 6
"""Levels of figures.css: h0 is no worse than alone."""
LOADS = (16, 22)


def draw(matrix: Matrix) -> str:
    """Return the picture; colour is the ratio to the same arm alone, or without that to the best field."""
    field = min(WIDEST, (WIDTH - LEFT) / len(matrix.arms))
    canvas = Canvas(WIDTH, matrix.subject)
    letters = int(field / PIXELS_PER_LETTER)
    load_letters = find_distinct_width(tuple(matrix.tables), *LOADS)
    for column, arm in enumerate(matrix.arms):
        canvas.text(LEFT + (column + 0.5) * field, TOP - 10, cut_middle(arm, letters), "name", "middle")
    for row, load in enumerate(matrix.tables):
        y = TOP + row * ROW
        canvas.text(LEFT - 10, y + ROW / 2 + 4, cut_middle(load, load_letters), "name", "end")
        for column, arm in enumerate(matrix.arms):
            entry = matrix.entries[load, arm]
            x = LEFT + column * field
            canvas.rect(x, y, field - GAP, ROW - GAP, _shade(matrix, entry), _tip(matrix.scale, load, arm, entry))
            canvas.text(x + (field - GAP) / 2, y + ROW / 2 + 3, _label(matrix.scale, entry), "heat", "middle")
    return canvas.render(TOP + len(matrix.tables) * ROW + 8)


def _shade(matrix: Matrix, entry: Entry) -> str:
    """Return one level for each half of a doubling."""
    if entry.mean is None:
        return "h-void"
    lower = matrix.first.metric.direction != "higher"
    times = entry.ratio
    if times is None:
        means = [other.mean for other in matrix.entries.values() if other.mean]
        best = (min(means) if lower else max(means)) if means else 0.0
        times = entry.mean / best if best else 1.0
    if times <= 0:
        return "h0"
    suffers = math.log2(times) * (1 if lower else -1)
    return f"h{min(SHADES - 1, max(0, round(2 * suffers)))}"


def _label(scale: Scale, entry: Entry) -> str:
    if entry.mean is None:
        return "-"
    text = f"{entry.ratio:.2f}x" if entry.ratio is not None else scale.plain(entry.mean)
    return f"{text} {entry.verdict}" if entry.verdict else text


def _tip(scale: Scale, load: str, arm: str, entry: Entry) -> str:
    if entry.mean is None:
        return f"{arm} beside {load}: no valid sample"
    ratio = f", {entry.ratio:.2f} times {arm} alone" if entry.ratio is not None else ""
    verdict = f", {entry.verdict.word}" if entry.verdict else ""
    return f"{arm} beside {load}: {scale.plain(entry.mean)} {scale.unit}{ratio}{verdict}".rstrip()
