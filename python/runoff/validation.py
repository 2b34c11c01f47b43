"""Strict validation of input: every key must be known, and a value of another type is refused, not converted."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError
from pydantic_core import ErrorDetails

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
"""``"5"``, 5.0 and true are not whole numbers, 1 is not true, nan and inf are not numbers. 5 is a number of seconds."""


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character ends a text for the kernel and cannot be in one")
    return text


Text = Annotated[str, Field(min_length=0), AfterValidator(_check_text)]
"""A string of valid UTF-8 without NUL characters. The length forces a look at the string, so that the error names the
key; NUL characters are impossible in command lines and paths."""

Words = Annotated[tuple[Text, ...], Strict(False)]
"""A list in TOML and JSON whose items must be strings."""


LONGEST_VALUE = 40

_LIMITS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
"""By kind of mistake: the key of the limit, and how it is said."""

_WANTED = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such key",
    "json_invalid": "it is not JSON",
    "too_short": "it is empty",
    "string_too_short": "it is empty",
    "string_unicode": "it is not valid UTF-8",
    "finite_number": "it must be a number that is neither infinite nor nan",
    "int_parsing_size": "it has too many digits",
}

_TYPES = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dataclass_type": "a table",
    "none_required": "nothing",
}
"""By kind of mistake: what the value has to be."""


class Checked(BaseModel):
    """The base of all validated models."""

    model_config = STRICT


def describe_mistake(error: ValidationError) -> str:
    """Return the first mistake: ``key: what is wrong``; without a key if the whole is wrong."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    message = _explain(first)
    return f"{key}: {message}" if key else message


def _explain(mistake: ErrorDetails) -> str:
    """Return what is wrong with a value, and what it may be."""
    limits, kind, value = mistake.get("ctx", {}), mistake["type"], mistake["input"]
    if kind in _WANTED:
        return _WANTED[kind]
    if "error" in limits:
        return str(limits["error"])
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"{value} is not {words} {_show_limit(limits[name])}"
    if kind == "literal_error":
        return f"it must be {limits['expected']}, not {_show(value)}"
    if kind in _TYPES:
        way_out = f": write [{value!r}]" if _TYPES[kind] == "a list" and isinstance(value, str) else ""
        return f"it must be {_TYPES[kind]}, not {_show(value)}{way_out}"
    return mistake["msg"]


def _show_limit(limit: object) -> str:
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def _show(value: object) -> str:
    """Return a value as TOML and JSON have it, cut where it is long."""
    shown = "true" if value is True else "false" if value is False else "null" if value is None else repr(value)
    return shown if len(shown) <= LONGEST_VALUE else f"{shown[:LONGEST_VALUE]}..."
