"""Copies of the files that a campaign's arms and works name, so that it can go on without the originals."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from runoff.errors import MissingError, UsageError
from runoff.files import HeldDirectory
from runoff.plan.arms import Arm
from runoff.plan.plan import Plan
from runoff.reading import LARGEST_COPY_BYTES, read_named, read_own
from runoff.workloads import Work

OBJECTS = "objects"
"""Folder in the campaign's directory for the objects of arms; its files are named ``SHA256.bpf.o``."""
FILES = "files"
"""Folder in the campaign's directory for files of works; its files are named ``SHA256``."""
_PERMISSIONS = 0o777
_NAMES = {OBJECTS: r"[0-9a-f]{64}\.bpf\.o(\.new)?", FILES: r"[0-9a-f]{64}(\.new)?"}


@dataclass(frozen=True, slots=True)
class _Original:
    """A file that a plan names."""

    path: Path
    sha256: str
    folder: str
    what: str

    @property
    def copy(self) -> Path:
        """Path of the copy in the campaign's directory."""
        return Path(self.folder, f"{self.sha256}.bpf.o" if self.folder == OBJECTS else self.sha256)


def store_copies(plan: Plan, directory: HeldDirectory) -> None:
    """Copy the files of ``plan`` durably, each with its permissions.

    Raises UsageError, and MissingError where there is no room.
    """
    for original in _list_originals(plan):
        try:
            content = read_named(original.path, LARGEST_COPY_BYTES)
            mode = original.path.stat().st_mode & _PERMISSIONS
        except OSError as error:
            raise UsageError(f"cannot read {original.path}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != original.sha256:
            raise UsageError(f"{original.path} changed while it was copied: run again when nothing writes it")
        try:
            directory.write_whole(original.copy, content, mode)
        except OSError as error:
            raise MissingError(
                f"cannot write {directory.path / original.copy}: {error.strerror}; choose another --out"
            ) from None


def use_copies(plan: Plan, directory: Path) -> Plan:
    """Return ``plan`` with the copies in ``directory``. Raises UsageError for a damaged copy."""
    places = {(original.folder, original.sha256): _find_copy(original, directory) for original in _list_originals(plan)}
    files = {sha256: path for (folder, sha256), path in places.items() if folder == FILES}

    def use(arm: Arm) -> Arm:
        if arm.object is None:
            return arm
        return replace(arm, scheduler={**arm.scheduler, "path": str(places[OBJECTS, arm.object.sha256])})

    def move(work: Work) -> Work:
        return replace(work, files=tuple(file.move(files) for file in work.files))

    return replace(
        plan,
        arms=tuple(use(arm) for arm in plan.arms),
        works=tuple(move(work) for work in plan.works),
        loads=tuple(None if load is None else move(load) for load in plan.loads),
    )


def is_left_over(entry: Path) -> bool:
    """Return whether ``entry`` of a directory without a journal can only come from `store_copies`."""
    pattern = _NAMES.get(entry.name)
    return pattern is not None and entry.is_dir() and all(re.fullmatch(pattern, file.name) for file in entry.iterdir())


def _list_originals(plan: Plan) -> Iterator[_Original]:
    for arm in plan.arms:
        if arm.object is not None:
            path = Path(arm.scheduler["path"])
            yield _Original(path, arm.object.sha256, OBJECTS, f"the object of the arm {arm.label!r}")
    seen = set()
    for file in (each for own in plan.own_files for each in own.all):
        if file.sha256 not in seen:
            seen.add(file.sha256)
            yield _Original(file.path, file.sha256, FILES, f"the file {file.key}")


def _find_copy(original: _Original, directory: Path) -> Path:
    path = directory / original.copy
    try:
        found = hashlib.sha256(read_own(path, LARGEST_COPY_BYTES)).hexdigest()
    except OSError as error:
        raise UsageError(
            f"{original.what} cannot be read ({path}: {error.strerror}): copy it back there, sha256 {original.sha256}"
        ) from None
    if found != original.sha256:
        raise UsageError(
            f"{original.what} in {path} was changed (its sha256 was {original.sha256[:12]}, is {found[:12]}): "
            "copy it back there"
        )
    return path.resolve()
