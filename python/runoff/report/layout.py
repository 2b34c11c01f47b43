"""Fitting words into columns."""

import re
import textwrap
from collections.abc import Iterator, Sequence

CUT = ".."

GLUE = "\0%"
"""A percent sign and its space while lines are broken; as long as what it stands for."""


def cut_middle(text: str, width: int) -> str:
    """Shorten to ``width`` by leaving out the middle: both ends of an arm's label carry meaning."""
    if len(text) <= width:
        return text
    kept = max(0, width - len(CUT))
    tail = kept // 2
    return text[: kept - tail] + CUT[:width] + (text[-tail:] if tail else "")


def cut_end(text: str, width: int) -> str:
    """Shorten to ``width`` by leaving out the end."""
    return text if len(text) <= width else text[: max(0, width - len(CUT))] + CUT[:width]


def find_distinct_width(names: Sequence[str], least: int, most: int) -> int:
    """Return the smallest width in ``least..most`` at which ``cut_middle`` keeps names distinct, else ``most``."""
    longest = max(len(name) for name in names)
    for width in range(least, min(longest, most)):
        if len({cut_middle(name, width) for name in names}) == len(set(names)):
            return width
    return min(longest, most)


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Break at spaces, but not before a percent sign, and inside a word only if it is longer than a line."""
    lines = textwrap.wrap(
        text.replace(" %", GLUE), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace(GLUE, " %") for line in lines] or [first.rstrip()]


def wrap_command(command: str, width: int, label: str) -> Iterator[str]:
    """Yield a shell command that can be pasted: lines end in a backslash, quoted words stay whole if they fit."""
    indent = " " * len(label)
    room = width - len(label) - len(" \\")
    lines = [""]
    for word in _words(command):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        yield from _break_word(label if number == 0 else indent, line, width, "" if last else " \\")


def _words(command: str) -> list[str]:
    return re.findall(r"(?:'[^']*'|\"[^\"]*\"|\S)+", command)


def _break_word(indent: str, line: str, width: int, end: str) -> Iterator[str]:
    """Yield the lines of a word that is longer than a line; each continues at the first column."""
    while len(indent) + len(line) + len(end) > width:
        room = width - len(indent) - 1
        yield f"{indent}{line[:room]}\\"
        indent, line = "", line[room:]
    yield f"{indent}{line}{end}"
