"""What `runoff kernel` and `runoff image` share: entries of the lab's cache as lines or as JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from runoff.cli.output import echo

_Entry = TypeVar("_Entry")

EXAMPLE = "\b\nExample:\n  "


def progress(message: str) -> None:
    """Print progress to standard error: standard output is for the result."""
    echo(message, err=True)


@dataclass(frozen=True, slots=True)
class View(Generic[_Entry]):
    """How entries of one kind are shown."""

    document: Callable[[_Entry], Mapping[str, Any]]
    line: Callable[[_Entry], str]

    def one(self, entry: _Entry, as_json: bool) -> None:
        """Show an entry that was just made."""
        echo(json.dumps(self.document(entry), indent=2) if as_json else self.line(entry))

    def all(self, entries: Sequence[_Entry], as_json: bool, none_yet: str) -> None:
        """Show all entries; ``none_yet`` says how to get the first."""
        if as_json:
            echo(json.dumps([self.document(entry) for entry in entries], indent=2))
            return
        for entry in entries:
            echo(self.line(entry))
        if not entries:
            echo(none_yet, err=True)
