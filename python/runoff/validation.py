"""Strict validation of input: every key must be known, and a value of another type is refused, not converted."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

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


class Checked(BaseModel):
    """The base of all validated models."""

    model_config = STRICT


def describe_mistake(error: ValidationError) -> str:
    """Return the first mistake: ``key: what is wrong``; without a key if the whole is wrong."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    message = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{key}: {message}" if key else message
