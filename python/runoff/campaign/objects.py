"""Copies of the object files that a campaign's arms name, so that it can go on without the originals."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from runoff.errors import MissingError, UsageError
from runoff.files import make_folder, read_own, write_whole
from runoff.plan.arms import Arm, ObjectFile

FOLDER = "objects"
"""Folder in the campaign's directory; its files are named ``SHA256.bpf.o``."""


def store_objects(arms: Iterable[Arm], directory: Path) -> None:
    """Copy the object files of ``arms`` durably. Raises UsageError, and MissingError where there is no room."""
    folder = directory / FOLDER
    for arm in arms:
        if arm.object is None:
            continue
        try:
            content = Path(arm.scheduler["path"]).read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {arm.scheduler['path']}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != arm.object.sha256:
            raise UsageError(f"{arm.scheduler['path']} was changed just now: begin again when it is finished")
        path = folder / _name(arm.object)
        try:
            make_folder(folder)
            write_whole(path, content)
        except OSError as error:
            raise MissingError(f"cannot write {path}: {error.strerror}; choose another --out") from None


def use_stored_objects(arms: Iterable[Arm], directory: Path) -> tuple[Arm, ...]:
    """Return ``arms`` with the copies of object files in ``directory``. Raises UsageError for a damaged copy."""
    return tuple(arm if arm.object is None else _use_copy(arm, arm.object, directory) for arm in arms)


def _use_copy(arm: Arm, object_file: ObjectFile, directory: Path) -> Arm:
    path = directory / FOLDER / _name(object_file)
    try:
        found = hashlib.sha256(read_own(path)).hexdigest()
    except OSError as error:
        raise UsageError(
            f"the object of the arm {arm.label!r} cannot be read ({path}: {error.strerror}): copy it back there, "
            f"sha256 {object_file.sha256}"
        ) from None
    if found != object_file.sha256:
        raise UsageError(
            f"the object of the arm {arm.label!r} in {path} was changed (its sha256 was {object_file.sha256[:12]}, is "
            f"{found[:12]}): copy it back there"
        )
    return replace(arm, scheduler={**arm.scheduler, "path": str(path.resolve())})


def is_left_over(entry: Path) -> bool:
    """Return whether ``entry`` of a directory without a journal can only come from `store_objects`."""
    names = (file.name for file in entry.iterdir()) if entry.name == FOLDER and entry.is_dir() else iter([""])
    return all(re.fullmatch(r"[0-9a-f]{64}\.bpf\.o(\.new)?", name) for name in names)


def _name(object_file: ObjectFile) -> str:
    return f"{object_file.sha256}.bpf.o"
