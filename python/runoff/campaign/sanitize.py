"""What campaigns hold was written by programs and people: before it is shown, all of it is made printable."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from runoff.results import Results
from runoff.text import escape_line, escape_lines

_Value = TypeVar("_Value")

_OF_LINES = {"detail"}
"""Fields of several lines."""
_EXACT = {"rerun", "plan_text"}
"""Fields that repeat the campaign and must be what they are; a view shows them printable."""


def make_printable(results: Results) -> Results:
    """Return the same results with every text printable: names, units, reasons, logs, what is known of machines."""
    return _clean_value(results)


def _clean_value(value: _Value) -> _Value:
    found: Any = value
    if isinstance(value, str):
        found = escape_line(value)
    elif isinstance(value, Mapping):
        found = {_clean_value(key): _clean_value(each) for key, each in value.items()}
    elif isinstance(value, (tuple, list)):
        found = type(value)(_clean_value(each) for each in value)
    elif is_dataclass(value) and not isinstance(value, type):
        changes = {field.name: _clean_field(field.name, getattr(value, field.name)) for field in fields(value)}
        found = replace(value, **changes)
    return found  # type: ignore[no-any-return]


def _clean_field(name: str, value: Any) -> Any:
    if isinstance(value, Path) or name in _EXACT:
        return value
    return escape_lines(value) if name in _OF_LINES and isinstance(value, str) else _clean_value(value)
