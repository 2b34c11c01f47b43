"""What the keys of a file's numbers stand for: by the user's word (``--columns``), or else by the format."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import get_args

from runoff.errors import UsageError
from runoff.imports.values import File, Reading, Role
from runoff.text import parse_assignments

OF_TABLES = ("arms", "metrics", "value", "metric", "unit", "direction")
"""Roles of a table's columns that say where its numbers are, and what they measure."""
NAMES = (*get_args(Role), *OF_TABLES)
ALL = "*"
"""Stands for all columns that are left, as in ``metrics=*``."""
_JOINT = "+"


def parse_roles(words: Iterable[str]) -> dict[str, str]:
    """Return the keys of each role from ``ROLE=KEY+KEY,...``. Raises UsageError."""
    wanted: dict[str, str] = {}
    for word in words:
        for role, keys in parse_assignments(word, "--columns").items():
            if role not in NAMES:
                raise UsageError(f"--columns {role}: the names are {', '.join(NAMES)}")
            if role in wanted:
                raise UsageError(f"--columns: {role!r} is given twice")
            wanted[role] = keys
    if {"arms", "metrics"} <= wanted.keys():
        raise UsageError("--columns: give arms= or metrics=, as a column of numbers is one or the other")
    return wanted


def find_keys(role: str, wanted: Mapping[str, str], known: Collection[str], file: File) -> tuple[str, ...]:
    """Return the keys that the user names for a role. Raises UsageError for one that is not ``known``."""
    text = wanted.get(role, "")
    if text in known:
        return (text,)
    keys = tuple(filter(None, text.split(_JOINT)))
    for key in keys:
        if key not in known and key != ALL:
            raise file.refuse(f"it has no column {key!r} for {role}; there are: {', '.join(known) or 'none'}")
    return keys


def resolve(
    reading: Reading, wanted: Mapping[str, str], file: File, given: Sequence[str]
) -> dict[Role, tuple[str, ...]]:
    """Return the keys of each role; ``given`` are keys that every number has besides its own. Raises UsageError."""
    known = list(dict.fromkeys([*(key for number in reading.numbers for key in number.keys), *given]))
    chosen: dict[Role, tuple[str, ...]] = {
        role: find_keys(role, wanted, known, file) for role in get_args(Role) if role in wanted
    }
    taken: dict[str, Role] = {}
    for role, keys in chosen.items():
        for key in keys:
            if taken.setdefault(key, role) != role:
                raise UsageError(f"--columns: {key!r} is given for {taken[key]} and for {role}")
    defaults = {
        role: tuple(key for key in keys if key not in taken)
        for role, keys in reading.roles.items()
        if role not in chosen
    }
    return {role: keys for role, keys in {**defaults, **chosen}.items() if keys}
