"""A line on a terminal that is made anew whenever it is shown, of as many whole parts as fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

from runoff.text import escape_line

BETWEEN = "  "


def fit(parts: Sequence[str], width: int) -> str:
    """Return the ``parts`` that are not empty, the first ones first, without those that do not fit whole.

    The first is cut if it does not.
    """
    first, *rest = [escape_line(part) for part in parts if part] or [""]
    line = first[:width]
    for part in rest:
        if len(line) + len(BETWEEN) + len(part) <= width:
            line += BETWEEN + part
    return line


@dataclass(frozen=True, slots=True)
class LiveLine:
    """See above."""

    list_parts: Callable[[], Sequence[str]]
    find_width: Callable[[], int]

    def __rich__(self) -> Text:
        """Return the line as it is now."""
        return Text(fit(self.list_parts(), self.find_width()), style="bright_black")
