"""The few SVG elements the figures are made of."""

import re
from collections.abc import Iterable, Iterator
from html import escape
from importlib import resources
from itertools import chain, repeat

OUTLINES = {
    "circle": (-4.0, 0.0, "a4 4 0 1 0 8 0a4 4 0 1 0-8 0"),
    "square": (-3.5, -3.5, "h7v7h-7z"),
    "triangle": (0.0, -5.0, "l4.5 8h-9z"),
    "diamond": (0.0, -5.0, "l4.5 5-4.5 5-4.5-5z"),
    "inverted": (0.0, 5.0, "l4.5-8h-9z"),
    "plus": (-1.3, -4.5, "h2.6v3.2h3.2v2.6h-3.2v3.2h-2.6v-3.2h-3.2v-2.6h3.2z"),
    "bar": (-1.5, -5.0, "h3v10h-3z"),
    "star": (0.0, -5.5, "l1.6 3.4h3.7l-2.8 2.5 1 3.8-3.5-2.1-3.5 2.1 1-3.8-2.8-2.5h3.7z"),
}
"""Start of the outline relative to the middle, and the rest of the path."""

SHAPES = tuple(OUTLINES)
"""One per arm, repeated after eight; colour repeats after a different number."""

ARROWS = {"left": (-6.0, 0.0, "l9-4.5v9z"), "right": (6.0, 0.0, "l-9-4.5v9z")}
"""Heads of arrows, for what is beyond a frame."""

COLOURS = 7

MARKERS = len(SHAPES) * COLOURS
"""Arms that a shape and a colour of their own tell apart."""


ANCHORS = {"start": "", "middle": "mid", "end": "end"}
"""Classes of text that does not begin at its place."""


_PICTURE = re.compile(
    r'<svg (?P<head>viewBox="0 0 (?P<width>[\d.]+) (?P<height>[\d.]+)"[^>]*)>(?P<content>.*)</svg>', re.DOTALL
)
_CLASSES = re.compile(r'class="([^"]*)"')
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SELECTED = re.compile(r"\.([\w-]+)")


def number(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


class Canvas:
    """Collects elements; coordinates are user units, which are pixels at full size."""

    def __init__(self, width: float, title: str) -> None:
        self.width = width
        self._title = title
        self._parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line."""
        start, end = (number(x1), number(y1)), (number(x2), number(y2))
        way = f"V{end[1]}" if start[0] == end[0] else f"H{end[0]}" if start[1] == end[1] else f"L{end[0]} {end[1]}"
        self._parts.append(f'<path class="{style}" d="M{start[0]} {start[1]}{way}"/>')

    def rect(self, x: float, y: float, width: float, height: float, style: str, tip: str = "") -> None:
        """Draw a rectangle, with a tooltip if given."""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0.5))}" height="{number(height)}"'
        self._element("rect", f'class="{style}" {place}', tip)

    def path(self, d: str, style: str, tip: str = "") -> None:
        """Draw an outline."""
        self._element("path", f'class="{style}" d="{d}"', tip)

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """Draw one line of text; ``y`` is its baseline."""
        classes = f"{style} {ANCHORS[anchor]}".strip()
        attributes = f' class="{classes}"' if classes else ""
        self._parts.append(f'<text x="{number(x)}" y="{number(y)}"{attributes}>{escape(text)}</text>')

    def render(self, height: float) -> str:
        """Return the finished picture, for a page that has the style sheet."""
        return f"<svg {self._head(height)}>{''.join(self._parts)}</svg>"

    def render_alone(self, height: float) -> str:
        """Return the finished picture as a file of its own, with background and the styles that it uses."""
        return make_standalone(self.render(height))

    def _head(self, height: float) -> str:
        return f'viewBox="0 0 {number(self.width)} {number(height)}" role="img" aria-label="{escape(self._title)}"'

    def _element(self, name: str, attributes: str, tip: str) -> None:
        inner = f"><title>{escape(tip)}</title></{name}>" if tip else "/>"
        self._parts.append(f"<{name} {attributes}{inner}")


def make_standalone(picture: str, arms: int = 0) -> str:
    """Return a picture of ``Canvas.render`` as a file of its own; ``arms`` is how many have marks in it."""
    found = _PICTURE.fullmatch(picture)
    assert found is not None, "Canvas.render makes no others"
    size = f'xmlns="http://www.w3.org/2000/svg" width="{found["width"]}" height="{found["height"]}"'
    content = f'<rect class="paper" width="100%" height="100%"/>{found["content"]}'
    marks = markers(arms) if arms else ""
    styles = _pick_styles(marks + content)
    return f"<svg {size} {found['head']}>\n<style>\n{styles}</style>\n{marks}{content}</svg>\n"


def _pick_styles(content: str) -> str:
    """Return the colours, and the rules whose classes the content has: a rule for another figure changes nothing."""
    templates = resources.files("runoff.report.html") / "templates"
    colours, rules = ((templates / name).read_text(encoding="utf-8") for name in ("colours.css", "figures.css"))
    classes = {name for names in _CLASSES.findall(content) for name in names.split()}
    used = (
        f"{selectors.strip()} {{{body}}}\n"
        for selectors, body in _RULE.findall(rules)
        if any(set(_SELECTED.findall(each)) <= classes for each in selectors.split(","))
    )
    return colours + "".join(used)


def render_dots(places: Iterable[tuple[float, float]]) -> str:
    """Render dots as lines of no length with round caps: the shortest way to draw many."""
    return "".join(f"{letter}{way}h0" for letter, way in zip(chain("M", repeat("m")), _ways(places, 10), strict=False))


def render_points(points: Iterable[tuple[float, float]]) -> str:
    """Return where a path of class ``marks`` has its markers, to the pixel: much shorter than as many outlines."""
    d = "l".join(_ways(points, 1))
    return f"M{d}" if d else ""


def _ways(points: Iterable[tuple[float, float]], parts: int) -> Iterator[str]:
    """Yield the first place, then the way from each to the next, in ``parts`` of a pixel.

    Places are rounded before, so that no errors add up.
    """
    last = (0, 0)
    for x, y in points:
        here = (round(x * parts), round(y * parts))
        across, down = (number((now - before) / parts) for now, before in zip(here, last, strict=True))
        yield f"{across}{down}" if down.startswith("-") else f"{across} {down}"
        last = here


def markers(count: int) -> str:
    """Return what the paths of a page refer to, as a picture of no size, and the style that refers to it."""
    used = range(min(count, MARKERS))
    drawn = "".join(
        f'<marker id="m{i}" markerWidth="12" markerHeight="12" refX="6" refY="6" markerUnits="userSpaceOnUse">'
        f'<path class="mark a{i % COLOURS}" d="{render_mark(SHAPES[i % len(SHAPES)], 6, 6)}"/></marker>'
        for i in used
    )
    style = "".join(f".m{i}{{marker:url(#m{i})}}" for i in used)
    return f'<svg class="markers" width="0" height="0" aria-hidden="true"><style>{style}</style>{drawn}</svg>'


def render_mark(shape: str, x: float, y: float) -> str:
    """Return the outline of a mark about (x, y), to be joined with others in one path; eight units across."""
    left, top, outline = (OUTLINES | ARROWS)[shape]
    return f"M{number(x + left)} {number(y + top)}{outline}"


def render_cross(x: float, y: float, r: float = 4.0) -> str:
    """Return a void sample."""
    a, b = number(r), number(2 * r)
    return f"M{number(x)} {number(y)}m-{a}-{a}l{b} {b}m-{b} 0l{b}-{b}"
