"""The text of an arm, taken apart: ``scheduler[:key=value,...][+setting=value...][+io=elevator][@kernel]``."""

import re
from dataclasses import dataclass

from runoff.errors import UsageError

ELEVATOR = "io"
"""What stands before the equals sign where an elevator follows, and not the value of a setting."""

_PIECE = re.compile(r'\+(?P<name>[a-z][\w./-]*)=(?P<value>(?:"[^"]*"|(?!\+[a-z][\w./-]*=)[^@"])*)')


@dataclass(frozen=True, slots=True)
class ArmText:
    """The parts of an arm's text; they are not checked."""

    scheduler: str
    """With its parameters."""
    settings: tuple[tuple[str, str], ...] = ()
    """Names and values, in their order; ``+io=`` is not among them."""
    elevator: str | None = None
    """With its parameters."""
    kernel: str | None = None

    def render(self) -> str:
        """Return the text, settings before the elevator."""
        settings = "".join(f"+{name}={_quote(value)}" for name, value in self.settings)
        elevator = "" if self.elevator is None else f"+{ELEVATOR}={self.elevator}"
        return f"{self.scheduler}{settings}{elevator}{'' if self.kernel is None else f'@{self.kernel}'}"


def split_arm(text: str) -> ArmText:
    """Take apart an arm other than a program. Raises UsageError for an elevator or a kernel that is given twice, or
    quotes that do not end."""
    first = _PIECE.search(text)
    start = len(text) if first is None else first.start()
    if first is None:
        scheduler, at, kernel = text.rpartition("@")
        return ArmText(scheduler if at else text, kernel=kernel if at else None)
    pieces: list[tuple[str, str]] = []
    end = start
    while found := _PIECE.match(text, end):
        pieces.append((found["name"], _unquote(found["value"].strip())))
        end = found.end()
    rest = text[end:]
    if rest and not rest.startswith("@"):
        raise UsageError(f"arm {text!r}: {rest!r} is not understood: a value with blanks, + or @ is put in quotes")
    return _assemble(text, text[:start], pieces, rest[1:] if rest else None)


def split_settings(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Take the settings from the end of a load's text, such as ``compile+weight=20``. Raises UsageError for an
    elevator or a kernel, which only an arm has, or quotes that do not end."""
    first = _PIECE.search(text)
    if first is None:
        return text, ()
    parts = split_arm(text)
    if parts.elevator is not None or parts.kernel is not None:
        raise UsageError(f"load {text!r}: an elevator or a kernel is a part of an arm, not of a load")
    return parts.scheduler, parts.settings


def split_words(words: list[str], where: str) -> tuple[list[str], ArmText]:
    """Take what belongs to the arm from the end of a program's command line, such as ``+nice=5`` and ``@kernel``."""
    kernel = words[-1][1:] if words and words[-1].startswith("@") else None
    end = len(words) - (kernel is not None)
    pieces: list[tuple[str, str]] = []
    while end and (found := re.match(r"\+([a-z][\w./-]*)=(.*)", words[end - 1], re.DOTALL)):
        end -= 1
        pieces.insert(0, (found[1], _unquote(found[2])))
    return words[:end], _assemble(where, "", pieces, kernel)


def _assemble(text: str, scheduler: str, pieces: list[tuple[str, str]], kernel: str | None) -> ArmText:
    elevators = [value for name, value in pieces if name == ELEVATOR]
    if len(elevators) > 1:
        raise UsageError(f"arm {text!r}: an elevator is given twice")
    settings = tuple((name, value) for name, value in pieces if name != ELEVATOR)
    return ArmText(scheduler, settings, elevators[0] if elevators else None, kernel)


def _quote(value: str) -> str:
    return f'"{value}"' if re.search(r"[\s+@]", value) else value


def _unquote(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
