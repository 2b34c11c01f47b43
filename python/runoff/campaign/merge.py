"""Merge the campaigns of several machines into one that is complete in itself."""

import shutil
from collections.abc import Iterable, Mapping
from os.path import realpath
from pathlib import Path

from runoff.campaign.directory import read_results
from runoff.campaign.journal import database, trust
from runoff.campaign.journal.journal import Journal
from runoff.campaign.machines.members import find_members, find_place, is_merged, write_members
from runoff.campaign.machines.same_plan import identify_campaign, require_compatible
from runoff.campaign.origin.evidence import require_evidence
from runoff.engines import sparse
from runoff.errors import MissingError, UsageError
from runoff.files import write_whole
from runoff.results import Results

_NOT_COPIED = (database.FILE, f"{database.FILE}-*", "report.html", "runs.csv", "runs.tsv")
"""The journal, which is written from what was read of it, and what a report makes again."""


def name_machines(directories: Iterable[Path]) -> dict[str, Path]:
    """Return the directories by names for their machines: as much of the end of each path as tells them apart."""
    places = [Path(realpath(directory)) for directory in directories]
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise UsageError(f"{twice} is given twice: give each campaign once")
    for length in range(1, max(len(place.parts) for place in places) + 1):
        names = ["/".join(place.parts[-length:]) for place in places]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, places, strict=True))


def merge(machines: Mapping[str, Path], out: Path, *, trusted: bool = False) -> Results:
    """Copy the campaigns of ``machines``, by name, into the new directory ``out`` and return their results as one.

    A campaign that was merged before stands for its machines. Not ``trusted``: root makes none where others may write.
    Raises UsageError where they cannot be one campaign, and MissingError where ``out`` cannot be written; ``out`` is
    not there then.
    """
    for place in machines.values():
        _require_apart(place, out)
    members = _list_members(machines)
    if len(members) < 2:
        raise UsageError("give the campaigns of two or more machines")
    results = {name: _read_complete(place) for name, place in members.items()}
    for place in members.values():
        trust.require_no_links(place)
    require_compatible({name: identify_campaign(place) for name, place in members.items()})
    require_evidence(results)
    trust.make_own_place(out.parent, trusted=trusted)
    try:
        out.mkdir()
    except FileExistsError:
        raise UsageError(f"{out} is there already: choose another --out") from None
    except OSError as error:
        raise MissingError(f"cannot make {out}: {error.strerror}; choose another --out") from None
    try:
        last_rows = {name: _copy(place, find_place(out, n)) for n, (name, place) in enumerate(members.items())}
        write_members(out, last_rows)
        return read_results(out)
    except BaseException as error:
        shutil.rmtree(out)
        if isinstance(error, (OSError, shutil.Error)):
            reason = error.strerror or str(error)
            raise MissingError(f"cannot copy the campaigns into {out}: {reason}; choose another --out") from None
        raise


def _require_apart(place: Path, out: Path) -> None:
    """Raise UsageError unless ``out`` is outside of the campaign in ``place``, which nothing is written into."""
    if Path(realpath(out)).is_relative_to(realpath(place)):
        raise UsageError(f"{out} is inside of {place}, which is to be merged: choose another --out")


def _list_members(machines: Mapping[str, Path]) -> dict[str, Path]:
    """Return the campaigns of single machines. Raises UsageError where two would have one name."""
    members: dict[str, Path] = {}
    for name, place in machines.items():
        own = find_members(place) if is_merged(place) else {name: place}
        for machine, directory in own.items():
            if machine in members:
                raise UsageError(
                    f"{place} has a machine named {machine}, and so has another: give one that is not merged yet "
                    f"another name, e.g. {machine}-2=DIR"
                )
            members[machine] = directory
    return members


def _read_complete(place: Path) -> Results:
    results = read_results(place)
    if len(results.samples) < results.planned or (
        results.stopping.until is not None and results.stopping.ended is None
    ):
        raise UsageError(
            f"{place} has {len(results.samples)} of {results.planned} samples: finish it first",
            hint=("resume", place),
        )
    return results


def _copy(place: Path, copy: Path) -> str:
    """Copy a campaign, and return the digest of the last row of its journal. Raises OSError."""
    with Journal.open(place, write=False) as journal:
        shutil.copytree(
            place, copy, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED), copy_function=sparse.copy
        )
        write_whole(copy / database.FILE, journal.serialize())
        return journal.last_row
