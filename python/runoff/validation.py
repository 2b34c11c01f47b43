"""How what others wrote is read: every key is known, and a value of another kind is refused, not made to fit."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
"""``"5"``, 5.0 and true are no whole numbers, 1 is not true, nan and inf are no numbers. 5 is a number of seconds."""


def _check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character ends a text for the kernel and cannot be in one")
    return text


Text = Annotated[str, Field(min_length=0), AfterValidator(_check_text)]
"""Only for its length a string is looked into: bytes that are no UTF-8 have their sentence here, not where they are
first written. A NUL character could be in no command line and no path."""

Words = Annotated[tuple[Text, ...], Strict(False)]
"""A list in TOML and JSON; what is in it is a string none the less."""


class Checked(BaseModel):
    """The base of what is read."""

    model_config = STRICT


def describe_mistake(error: ValidationError) -> str:
    """Return the first mistake: ``key: what is wrong``; without a key if the whole is wrong."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    return f"{key}: {first['msg']}" if key else first["msg"]
