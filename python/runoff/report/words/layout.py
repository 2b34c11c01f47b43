"""Fitting words into columns."""

import re
import textwrap
from collections.abc import Iterator, Sequence

CUT = ".."

GLUE = "\0%"
"""A percent sign and its space while lines are broken; as long as what it stands for."""

_QUOTED = r"'[^']*'|\"[^\"]*\""
"""A pattern of what stands in quotes for a shell; such text has no backslash before a quote."""


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


def wrap_commands(commands: str, width: int, label: str) -> Iterator[str]:
    """Yield shell commands, a line each or several where quoted words have breaks, as ``wrap_command`` does."""
    for command in re.findall(rf"(?:{_QUOTED}|[^\n])+", commands):
        yield from wrap_command(command, width, label)


def wrap_command(command: str, width: int, label: str) -> Iterator[str]:
    """Yield a shell command that can be pasted: lines end in a backslash, quoted words stay whole if they fit."""
    indent = " " * len(label)
    room = width - len(label) - len(" \\")
    lines = [""]
    for word in re.findall(rf"(?:{_QUOTED}|\S)+", command):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    for number, line in enumerate(lines):
        last = number == len(lines) - 1
        yield from _break_word(label if number == 0 else indent, line, width, "" if last else " \\")


def _break_word(indent: str, line: str, width: int, end: str) -> Iterator[str]:
    """Yield the lines of a word that has breaks or is longer than a line; each continues at the first column."""
    before = ""
    *rows, last = line.split("\n")
    for row, mark in (*((row, "") for row in rows), (last, end)):
        while len(indent) + len(row) + len(mark) > width:
            room = width - len(indent) - len("'\\")
            part, row = row[:room], row[room:]
            # Between single quotes a backslash is a letter: they are closed before it and opened after it.
            if _has_open_quote(before + part):
                part, row = f"{part}'", f"'{row}"
            yield f"{indent}{part}\\"
            indent, before = "", before + part
        yield f"{indent}{row}{mark}"
        indent, before = "", f"{before}{row}\n"


def _has_open_quote(text: str) -> bool:
    rest = re.search("['\"]", re.sub(_QUOTED, "", text))
    return rest is not None and rest[0] == "'"
