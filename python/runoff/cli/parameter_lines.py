"""Parameters as a terminal shows them."""

from collections.abc import Iterator

from runoff.report.words.layout import wrap


def render_parameter(
    name: str, value: object, allowed: str, about: str, width: int, *, is_fixed: bool = False
) -> Iterator[str]:
    """Yield a parameter with its value and what it may be, then what it does, in lines no longer than ``width``."""
    fixed = ", fixed once attached" if is_fixed else ""
    yield f"  {name}={value}  ({allowed}{fixed})"
    yield from wrap(about, width, "      ", "      ")
