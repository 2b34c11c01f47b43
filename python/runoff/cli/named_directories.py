"""Directories of campaigns with names, as ``DIR`` or ``NAME=DIR``."""

from collections.abc import Sequence
from pathlib import Path

from runoff.errors import UsageError
from runoff.reading import does_exist
from runoff.text import escape_line


def name_directories(words: Sequence[str], noun: str) -> dict[str, Path]:
    """Return the directories by names, in the order given; a ``noun`` is what each is of.

    A name that is not given is as much of the end of the path as tells it from the others. Raises UsageError where one
    is given twice.
    """
    from runoff.campaign.merge import name_machines

    places, names = [], []
    for text in words:
        name, equals, place = text.partition("=")
        has_name = bool(equals) and not does_exist(Path(text))
        if has_name and (not name or name in names):
            raise UsageError(f"{text}: every {noun} needs a name of its own, e.g. first={place or 'results/a'}")
        places.append(Path(place if has_name else text))
        names.append(name if has_name else None)
    found = name_machines(places)
    return {escape_line(name or own): place for name, (own, place) in zip(names, found.items(), strict=True)}
