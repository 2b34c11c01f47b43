"""Prints docs/promises.md: ``python tests/promises/page.py``."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from doors import DOORS
from promise import Promise
from table import PROMISES

PAGE = Path(__file__).parents[2] / "docs/promises.md"
WIDTH = 100

INTRODUCTION = (
    "The other pages promise things, and there are many ways into runoff and out of it. This page has each promise "
    "with the doors at which it matters and the tests that hold it there. A door is a command, an option that writes "
    "a file, or a function of the library that is given a directory. Where a promise does not concern a door, the "
    "reason is in the table. The page is printed from `tests/promises`. A test fails where a door has neither a "
    "test nor a reason, and where a command, an option that writes a file, or such a function is not a door."
)


def render() -> str:
    """Return the whole page."""
    return "\n".join(_list_lines()) + "\n"


def _list_lines() -> Iterator[str]:
    yield "# Promises, door by door"
    yield ""
    yield from textwrap.wrap(INTRODUCTION, WIDTH)
    yield ""
    yield from textwrap.wrap(f"The doors: {', '.join(f'`{door}`' for door in DOORS)}.", WIDTH, break_on_hyphens=False)
    for promise in PROMISES:
        yield ""
        yield from _list_promise(promise)


def _list_promise(promise: Promise) -> Iterator[str]:
    yield f"## {promise.title}"
    yield ""
    yield from textwrap.wrap(
        f"{promise.says} ([where]({promise.page}))", WIDTH, break_on_hyphens=False, break_long_words=False
    )
    yield ""
    yield "| doors | held by |"
    yield "|---|---|"
    for test, doors in promise.held.items():
        yield f"| {_name(doors)} | `{test}` |"
    for reason, doors in promise.apart.items():
        yield f"| {_name(doors)} | not concerned: {reason} |"


def _name(doors: object) -> str:
    assert isinstance(doors, list | tuple)
    return ", ".join(f"`{door}`" for door in doors)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
