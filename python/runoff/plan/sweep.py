"""Ranges and lists of parameters as arms of one plan: ``bfs:rr_interval_ms=1..20`` and the like."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runoff.arm_text import ELEVATOR, split_arm
from runoff.errors import UsageError
from runoff.plan.catalogue import Catalogue
from runoff.plan.programs import COMMAND, is_program
from runoff.text import parse_assignments, suggest

MOST_ARMS = 64
"""Most arms of a sweep, unless the user confirms that more are wanted."""

_DEFAULT = "default"
"""The kernel's own scheduler, which a single arm is compared with."""
_DIGITS = 4
"""Digits of a number of CPUs."""

MOST_VALUES = 10_000
"""Most values of one range."""

RANGE = re.compile(r"([+-]?[0-9]{1,18})\.\.([+-]?[0-9]{1,18})(?:([+*])([0-9]{1,9}(?:\.[0-9]{1,6})?))?")
"""``1..20``, ``0..100+10`` in steps, ``1..1000*2`` each twice the one before."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A scheduler or an elevator with its parameters, or a setting; some have several values."""

    prefix: str
    """What stands before it in an arm: nothing, or ``+io=``."""
    name: str
    """Empty for a setting, whose name is the only key of ``values``."""
    values: Mapping[str, Sequence[str]]
    """By parameter, in the order given; one value is fixed."""
    defaults: Mapping[str, str]
    """Defaults of the parameters that have several values, as far as they are known."""

    def render(self, chosen: Mapping[str, str]) -> str:
        parameters = ",".join(f"{key}={value}" for key, value in chosen.items())
        if not parameters and not self.name:
            return ""
        return f"{self.prefix}{self.name}{':' if parameters and self.name else ''}{parameters}"

    def render_default(self) -> str:
        """Return it with the defaults of what is swept, and with what is fixed."""
        fixed = {key: values[0] for key, values in self.values.items() if len(values) == 1}
        return self.render(fixed | {key: self.defaults[key] for key in self.values if key in self.defaults})

    def render_all(self) -> Iterator[str]:
        """Yield it with each combination of values, the last parameter changing fastest."""
        for combination in itertools.product(*self.values.values()):
            yield self.render(dict(zip(self.values, combination, strict=True)))


def expand_sweep(text: str, catalogue: Catalogue, *, large: bool = False) -> list[str]:
    """Return the arms of a sweep, the defaults first: they are what every other is compared with.

    Raises UsageError, also for more than 64 arms unless it is to be ``large``.
    """
    where = f"sweep {text!r}"
    if text.strip().startswith(COMMAND):
        raise UsageError(f"{where}: the options of a program are not parameters: name each arm, with runoff compare")
    parts = split_arm(text.strip())
    if is_program(parts.scheduler):
        pieces = [_Piece("", parts.scheduler, {}, {})]
    else:
        pieces = [_parse_piece("", parts.scheduler, _describe_schedulers(catalogue), where)]
    pieces += [_parse_setting(name, value, where) for name, value in parts.settings]
    if parts.elevator is not None:
        pieces.append(_parse_piece(f"+{ELEVATOR}=", parts.elevator, _describe_elevators(catalogue), where))
    kernel = "" if parts.kernel is None else f"@{parts.kernel}"
    if all(len(values) == 1 for piece in pieces for values in piece.values.values()):
        raise UsageError(f"{where}: nothing varies: give a parameter a range or a list, such as 1..20 or 1|3|6")
    baseline = "".join(piece.render_default() for piece in pieces) + kernel
    arms = ["".join(combination) + kernel for combination in itertools.product(*(p.render_all() for p in pieces))]
    every = [baseline, *(arm for arm in arms if arm != baseline)]
    if len(every) > MOST_ARMS and not large:
        raise UsageError(
            f"{where} is {len(every)} arms, and every one is taken in every block: use fewer values, such as "
            "1..1000*2, or add --yes"
        )
    return every


def varies(arm: str) -> bool:
    """Return whether a parameter of ``arm`` has several values."""
    return not arm.strip().startswith(COMMAND) and any(".." in v or "|" in v for v in re.findall(r"=([^,+@]*)", arm))


def expand_for_sizes(arms: Sequence[str], catalogue: Catalogue, *, large: bool = False) -> list[str]:
    """Return the arms that are compared with each number of CPUs: those of a sweep, those that are given, or one and
    the kernel's own scheduler. Raises UsageError."""
    if len(arms) == 1 and varies(arms[0]):
        return expand_sweep(arms[0], catalogue, large=large)
    if several := [arm for arm in arms if varies(arm)]:
        raise UsageError(f"sweep {several[0]!r}: give it alone, or arms whose parameters have one value each")
    if list(arms) == [_DEFAULT]:
        raise UsageError(f"{_DEFAULT} is the only arm: name one to compare with it, e.g. runoff sweep default bfs")
    return [_DEFAULT, *arms] if len(arms) == 1 else list(arms)


def expand_sizes(text: str) -> list[int]:
    """Return the numbers of CPUs that ``--cpus`` names: 4, 1,2,4,8 or 1..16*2. Raises UsageError."""
    values = [value for part in text.split(",") for value in _expand_part("cpus", part.strip(), f"--cpus {text}")]
    for value in values:
        if not (value.isascii() and value.isdigit() and 1 <= len(value) <= _DIGITS):
            raise UsageError(f"--cpus {text}: {value!r} is not a number of CPUs: give one, or several as in 1,2,4,8")
    sizes = [int(value) for value in values]
    if len(set(sizes)) < len(sizes):
        raise UsageError(f"--cpus {text}: a size is given twice")
    return sizes


def _describe_schedulers(catalogue: Catalogue) -> Mapping[str, Mapping[str, Any]]:
    return {} if catalogue.schedulers is None else catalogue.schedulers()


def _describe_elevators(catalogue: Catalogue) -> Mapping[str, Mapping[str, Any]]:
    if catalogue.elevators is None:
        return {}
    described = catalogue.elevators()
    return {entry["name"]: entry for entry in [*described["elevators"], *described["kernel"]]}


def _parse_piece(prefix: str, text: str, described: Mapping[str, Mapping[str, Any]], where: str) -> _Piece:
    name, _, assignments = text.partition(":")
    given = parse_assignments(assignments, where)
    values = {key: _expand_value(key, value, where) for key, value in given.items()}
    known = {each["name"]: each for each in described[name]["parameters"]} if name in described else None
    if known is not None:
        for key in given:
            if key not in known:
                raise UsageError(f"{where}: {name} has no parameter {key!r}{suggest(key, list(known))}")
    swept = [key for key, found in values.items() if len(found) > 1]
    defaults = {} if known is None else {key: str(known[key]["default"]) for key in swept}
    return _Piece(prefix, name, values, defaults)


def _parse_setting(name: str, text: str, where: str) -> _Piece:
    """Return a setting; the baseline has what the machine has of one that is swept."""
    return _Piece("+", "", {name: _expand_value(name, text, where)}, {})


def _expand_value(key: str, text: str, where: str) -> list[str]:
    values = [value for part in text.split("|") for value in _expand_part(key, part.strip(), where)]
    if len(set(values)) < len(values):
        raise UsageError(f"{where}: {key}={text} has a value twice")
    return values


def _expand_part(key: str, text: str, where: str) -> list[str]:
    found = RANGE.fullmatch(text)
    if found is None:
        if not text or (".." in text and not re.fullmatch(r"[0-9.]+", text)):
            raise UsageError(f"{where}: {key}={text!r} must be a range like 1..20, 0..100+10 or 1..1000*2, or a list")
        return [text]
    low, high = int(found[1]), int(found[2])
    if low > high:
        raise UsageError(f"{where}: {key}={text} ends before it begins: write the smaller number first")
    if found[3] == "*":
        return _multiply(key, low, high, float(found[4]), where)
    step = int(float(found[4] or 1))
    if step < 1 or (found[4] and float(found[4]) != step):
        raise UsageError(f"{where}: {key}={text}: the step must be a whole number of 1 or more")
    if (high - low) // step >= MOST_VALUES:
        raise UsageError(f"{where}: {key}={text} has over {MOST_VALUES} values: use larger steps")
    return [str(value) for value in range(low, high + 1, step)]


def _multiply(key: str, low: int, high: int, factor: float, where: str) -> list[str]:
    if low < 1 or factor <= 1:
        raise UsageError(f"{where}: {key}: a range with * begins at 1 or more and multiplies by more than 1")
    values: list[str] = []
    value = float(low)
    while round(value) <= high:
        if not values or values[-1] != str(round(value)):
            values.append(str(round(value)))
        value *= factor
    return values
