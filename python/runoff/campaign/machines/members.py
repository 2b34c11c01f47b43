"""The list of machines in a campaign of several: ``merged.json``, beside a copy of each machine's own campaign."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from runoff.campaign.journal.journal import Journal
from runoff.errors import UsageError
from runoff.files import write_whole
from runoff.reading import read_own
from runoff.validation import Checked, describe_mistake

FILE = "merged.json"
FOLDER = "machines"
"""Has a folder with a campaign for each machine, named by its number."""


class Member(Checked):
    """The campaign of one machine."""

    name: str = Field(min_length=1)
    """Name of the machine, as tables have it."""
    last_row: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Digest of the last row of its journal, which covers all rows before it."""


class Members(Checked):
    """The content of ``merged.json``; the first machine's campaign is in ``machines/1``."""

    format: Literal["runoff.merged/1"]
    members: list[Member] = Field(min_length=2)


def is_merged(directory: Path) -> bool:
    """Return whether ``directory`` is a campaign of several machines."""
    return (directory / FILE).is_file()


def refuse_merged(directory: Path) -> None:
    """Raise UsageError for a campaign of several machines, which takes no samples of its own."""
    if is_merged(directory):
        raise UsageError(
            f"{directory} is merged from the campaigns of several machines: resume those where they were taken, "
            "then merge them again"
        )


def find_place(directory: Path, number: int) -> Path:
    """Return the directory of the campaign of machine ``number``, counted from 0."""
    return directory / FOLDER / str(number + 1)


def write_members(directory: Path, names: Mapping[str, str]) -> None:
    """Write names and digests of last rows; until then the directory is not a campaign. Raises OSError."""
    listed = {
        "format": "runoff.merged/1",
        "members": [{"name": name, "last_row": last_row} for name, last_row in names.items()],
    }
    write_whole(directory / FILE, (json.dumps(listed, indent=1) + "\n").encode())


def find_members(directory: Path) -> dict[str, Path]:
    """Return the campaigns by the names of their machines. Raises UsageError unless all are what was merged."""
    try:
        listed = Members.model_validate_json(read_own(directory / FILE))
    except OSError as error:
        raise UsageError(f"cannot read {directory / FILE}: {error.strerror}") from None
    except ValidationError as error:
        raise UsageError(
            f"{directory / FILE} is damaged ({describe_mistake(error)}): merge the campaigns again"
        ) from None
    places = {}
    for number, member in enumerate(listed.members):
        place = find_place(directory, number)
        for each in (place.parent, place):
            if each.is_symlink():
                raise UsageError(f"{each} is a link, and a merged campaign is complete in itself: merge them again")
        with Journal.open(place, write=False) as journal:
            if journal.last_row != member.last_row:
                raise UsageError(f"{place} is not the campaign of {member.name} that was merged: merge them again")
        if member.name in places:
            raise UsageError(f"{directory / FILE} is damaged (two machines are named {member.name}): merge them again")
        places[member.name] = place
    return places
