"""An option of a plan, declared once at its key in ``Settings``.

The option of ``runoff compare``, the command line that repeats a campaign, the rows of docs/plans.md and
docs/schema/runoff.plan.json are made from the declaration.
"""

import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

Kind = Literal["text", "number", "share", "flag", "choice", "texts", "pairs"]
"""How a value is written on a command line: ``texts`` and ``pairs`` (``NAME=VALUE``) may be repeated."""


@dataclass(frozen=True, slots=True)
class Option:
    """How a key of a plan is written on a command line, and what it means."""

    flag: str
    """The flag with its dashes; an argument in capitals for a key without a flag."""
    help: str
    """A sentence for the help and for docs/plans.md."""
    metavar: str = ""
    default: str = ""
    """What happens without it, if that is more than the key's default value."""
    link: str = ""
    """The link in docs/plans.md to more about it."""
    words: str = ""
    """The allowed values in words, if the type does not say."""
    choices: tuple[str, ...] = ()
    """The allowed values, if there are a few and the type does not say."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a plan with its option."""

    name: str
    option: Option
    field: FieldInfo

    @property
    def kind(self) -> Kind:
        """Return how its value is written on a command line."""
        annotation = _unwrap(self.field.annotation)
        by_type: dict[Any, Kind] = {bool: "flag", int: "number", float: "share", str: "text"}
        if self.option.choices or get_origin(annotation) is Literal:
            return "choice"
        if get_origin(annotation) is dict:
            return "pairs"
        return "texts" if get_origin(annotation) is tuple else by_type[annotation]

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the values of a ``choice``."""
        return self.option.choices or get_args(_unwrap(self.field.annotation))

    @property
    def default(self) -> str:
        """Return what happens without it, in words; empty if nothing does."""
        if self.option.default:
            return self.option.default
        value = self.field.get_default()
        if self.kind == "share" and value is not None:
            return f"{100 * value:g}%"
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""

    @property
    def allowed(self) -> str:
        """Return the allowed values in words; empty if any value is."""
        if self.option.words:
            return self.option.words
        if self.kind == "choice":
            return ", ".join(f'"{choice}"' for choice in self.choices)
        limits = _limits(self.field)
        if "ge" in limits and "le" in limits:
            return f"{limits['ge']}..{limits['le']}"
        words = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
        return ", ".join(f"{word} {limits[limit]:g}" for limit, word in words.items() if limit in limits)


def read_keys(settings: type[BaseModel]) -> Iterator[Key]:
    """Yield the keys that have an option, in their order."""
    for name, field in settings.model_fields.items():
        for each in field.metadata:
            if isinstance(each, Option):
                yield Key(name, each, field)


def _unwrap(annotation: Any) -> Any:
    """Return ``X`` of ``X | None`` and of ``Annotated[X, ...]``."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _unwrap(next(part for part in get_args(annotation) if part is not types.NoneType))
    return _unwrap(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def _limits(field: FieldInfo) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in field.metadata:
        for limit in ("gt", "ge", "lt", "le"):
            if isinstance(each, getattr(annotated_types, limit.capitalize())):
                found[limit] = getattr(each, limit)
    return found
