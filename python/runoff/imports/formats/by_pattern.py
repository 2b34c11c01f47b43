"""Any text: the numbers that a regular expression finds, each with what its named groups catch beside it.

Groups named as roles are (``arm``, ``workload``, ``run``, ``block``, ``machine``, ``status`` ...) have that role,
``metric`` names what a number measures, and ``unit`` its unit. The agent finds the numbers, as it does in what
workloads print.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from runoff.imports.formats.tables import VALUE
from runoff.imports.values import File, FoundMetric, Number, Reading, Role, refuse_too_many

FORMAT = "text, by its pattern"
_METRIC = "metric"


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the user says of numbers in a text."""

    text: str
    """A regular expression in the dialect of Rust's crate; its first group without a name is the number."""
    unit: str = ""
    """Empty means that of the first number."""
    thousands: str = ""
    """What stands between each three digits."""


FindNumbers = Callable[[Pattern, str], Sequence[Mapping[str, Any]]]
"""Finds the numbers of a text: ``value``, ``unit``, ``line`` and ``keys`` of each. Raises ValueError."""


def read(file: File, pattern: Pattern, find_numbers: FindNumbers) -> Reading:
    """Return the numbers of the file. Raises UsageError where there is none, or one may not be what it looks like."""
    try:
        found = find_numbers(pattern, file.text)
    except ValueError as error:
        raise file.refuse(str(error)) from None
    if not found:
        raise file.refuse("the pattern fits nowhere in it")
    refuse_too_many(len(found), file)
    metrics: dict[str, FoundMetric] = {}
    numbers = []
    for each in found:
        keys = dict(each["keys"])
        name = keys.pop(_METRIC, "") or VALUE
        metrics.setdefault(name, FoundMetric(name, each["unit"]))
        numbers.append(Number(name, each["value"], keys, f"line {each['line']}"))
    named = {key for number in numbers for key in number.keys}
    roles: dict[Role, tuple[str, ...]] = {role: (role,) for role in get_args(Role) if role in named}
    return Reading(FORMAT, numbers, list(metrics.values()), roles=roles)
