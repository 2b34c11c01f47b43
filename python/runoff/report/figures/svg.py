"""The few SVG elements the figures are made of."""

from html import escape

SHAPES = ("circle", "square", "triangle", "diamond", "inverted", "plus", "bar", "star")
"""One per arm, repeated after eight; colour repeats after a different number."""

COLOURS = 7


def number(value: float) -> str:
    """A coordinate with one decimal at most."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


class Canvas:
    """Collects elements; coordinates are user units, which are pixels at full size."""

    def __init__(self, width: float, title: str) -> None:
        self.width = width
        self._title = title
        self._parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A straight line."""
        self._parts.append(f'<path class="{style}" d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"/>')

    def rect(self, x: float, y: float, width: float, height: float, style: str, tip: str = "") -> None:
        """A rectangle, with a tooltip if given."""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0.5))}" height="{number(height)}"'
        self._element("rect", f'class="{style}" {place}', tip)

    def path(self, d: str, style: str, tip: str = "") -> None:
        """Any outline."""
        self._element("path", f'class="{style}" d="{d}"', tip)

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """One line of text; ``y`` is its baseline."""
        attributes = f' class="{style}"' if style else ""
        if anchor != "start":
            attributes += f' text-anchor="{anchor}"'
        self._parts.append(f'<text x="{number(x)}" y="{number(y)}"{attributes}>{escape(text)}</text>')

    def render(self, height: float) -> str:
        """The finished picture."""
        head = (
            f'<svg viewBox="0 0 {number(self.width)} {number(height)}" role="img" aria-label="{escape(self._title)}">'
        )
        return head + "".join(self._parts) + "</svg>"

    def _element(self, name: str, attributes: str, tip: str) -> None:
        inner = f"><title>{escape(tip)}</title></{name}>" if tip else "/>"
        self._parts.append(f"<{name} {attributes}{inner}")


def mark(shape: str, x: float, y: float, r: float = 4.0) -> str:
    """The outline of a mark about (x, y), to be joined with others in one path."""
    at = f"M{number(x)} {number(y)}"
    d = number(2 * r)
    outlines = {
        "circle": f"m-{number(r)} 0a{number(r)} {number(r)} 0 1 0 {d} 0a{number(r)} {number(r)} 0 1 0-{d} 0z",
        "square": f"m-{number(r * 0.9)}-{number(r * 0.9)}h{number(r * 1.8)}v{number(r * 1.8)}h-{number(r * 1.8)}z",
        "triangle": f"m0-{number(r * 1.2)}l{number(r * 1.1)} {number(r * 2)}h-{number(r * 2.2)}z",
        "diamond": f"m0-{number(r * 1.25)}l{number(r * 1.1)} {number(r * 1.25)}l-{number(r * 1.1)} {number(r * 1.25)}"
        f"l-{number(r * 1.1)}-{number(r * 1.25)}z",
        "inverted": f"m0 {number(r * 1.2)}l{number(r * 1.1)}-{number(r * 2)}h-{number(r * 2.2)}z",
        "plus": f"m-1.2-{number(r)}h2.4v{number(r - 1.2)}h{number(r - 1.2)}v2.4h-{number(r - 1.2)}v{number(r - 1.2)}"
        f"h-2.4v-{number(r - 1.2)}h-{number(r - 1.2)}v-2.4h{number(r - 1.2)}z",
        "bar": f"m-1.5-{number(r * 1.2)}h3v{number(r * 2.4)}h-3z",
        "star": f"m0-{number(r * 1.3)}l1.5 3.2h3.4l-2.6 2.4 1 3.5-3.3-2-3.3 2 1-3.5-2.6-2.4h3.4z",
    }
    return at + outlines[shape]


def cross(x: float, y: float, r: float = 4.0) -> str:
    """A void sample."""
    a, b = number(r), number(2 * r)
    return f"M{number(x)} {number(y)}m-{a}-{a}l{b} {b}m-{b} 0l{b}-{b}"
