"""Small pieces of text handling that the parsers and messages share."""

import difflib
import json
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

from runoff.errors import UsageError


def parse_assignments(text: str, where: str) -> dict[str, str]:
    """Parse ``a=1,b=2``. Raises UsageError; ``where`` starts the sentence."""
    table: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, separator, value = part.partition("=")
        if not separator or not key.strip() or not value.strip():
            raise UsageError(f"{where}: {part!r} is not key=value")
        if key.strip() in table:
            raise UsageError(f"{where}: {key.strip()!r} is given twice")
        table[key.strip()] = value.strip()
    return table


def suggest(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown word: a guess, or the list of known ones."""
    names = sorted(known)
    guesses = difflib.get_close_matches(word, names, n=1)
    if guesses:
        return f"; did you mean {guesses[0]!r}?"
    return f"; there are: {', '.join(names)}" if names else "; there are none"


def escape_line(text: str) -> str:
    """Return ``text`` as one line without anything that moves a terminal's cursor or hides, colours or reorders its
    text.

    Control characters, line breaks, direction marks and all other invisible characters are written as Python escapes:
    ``\\x1b``, ``\\n``, ``\\u202e``.
    """
    return "".join(letter if _is_visible(letter) else repr(letter)[1:-1] for letter in text)


def escape_lines(text: str) -> str:
    """Return the same for a text of several lines, which stay; a tab becomes blanks."""
    return "\n".join(escape_line(line) for line in text.replace("\r\n", "\n").expandtabs().split("\n"))


def escape_for_toml(text: str) -> str:
    """Return an equivalent TOML document in which every character is printable."""
    return "".join(letter if letter == "\n" or _is_visible(letter) else f"\\U{ord(letter):08x}" for letter in text)


def escape_for_json(document: str) -> str:
    """Return an equivalent JSON document in which every character is printable; breaks of lines are its layout."""
    return "\n".join(line if line.isprintable() else _escape_in_json(line) for line in document.split("\n"))


def _escape_in_json(line: str) -> str:
    return "".join(letter if _is_visible(letter) else json.dumps(letter)[1:-1] for letter in line)


def _is_visible(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def format_duration(seconds: float) -> str:
    """Return a length of time for people: ``8 s``, ``3 min 05 s``, ``2 h 10 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def format_percent(share: float) -> str:
    """Return 0.02 as ``2%``, with all digits of the number."""
    return f"{(Decimal(repr(share)) * 100).normalize():f}%"
