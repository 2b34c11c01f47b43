"""Files of the user's that travel with a work: by their digests, into its working directory."""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from runoff.errors import UsageError
from runoff.validation import Checked

LIBRARIES = ".libraries"
"""Folder in the working directory for the libraries that programs bring."""
_LOCAL = ("./", "../", "~/")


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that a work finds in its working directory."""

    key: str
    """How the plan names it."""
    name: str
    """Path in the working directory."""
    path: Path
    """On this machine."""
    sha256: str
    is_executable: bool = False
    libraries: tuple["OwnFile", ...] = ()
    """What a program loads, its loader first; empty where the machine's own are used."""

    @property
    def all(self) -> tuple["OwnFile", ...]:
        """The file and its libraries."""
        return (self, *self.libraries)

    def move(self, paths: Mapping[str, Path]) -> "OwnFile":
        """Return it with other paths, by SHA-256."""
        libraries = tuple(each.move(paths) for each in self.libraries)
        return replace(self, path=paths[self.sha256], libraries=libraries)


class StoredFile(Checked):
    """What a campaign knows of an own file; the content is in its directory."""

    sha256: str
    is_executable: bool
    libraries: list[tuple[str, str]]
    """Paths in the working directory and SHA-256, the loader first."""


def is_local(word: str) -> bool:
    """Return whether a word of a command line names a file by its way from here, such as ``./bench.sh``."""
    return word.startswith(_LOCAL)


def find_own_file(key: str, name: str, what: str, stored: Mapping[str, StoredFile] | None = None) -> OwnFile:
    """Return the file ``key``, a path on this machine, or what a campaign has ``stored`` of it.

    ``what`` is the work that has it as ``name``. Raises UsageError if it is not a file, or cannot be read.
    """
    if stored is not None:
        if key not in stored:
            raise UsageError(f"the file {key} of the {what} is not stored in the campaign: begin a new campaign")
        return _make_stored(key, name, stored[key])
    path = Path(key).expanduser()
    try:
        if path.is_dir():
            raise UsageError(f"{what}: {key} is a directory, and only files travel: pack it, and unpack it in prepare")
        # Opening a pipe waits for a writer, unless told not to.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise UsageError(f"{what}: {key} is not a file")
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{what}: cannot read the file {key}: {error.strerror}") from None
    return OwnFile(key, name, path, sha256, bool(mode & stat.S_IXUSR))


def derive_name(written: str) -> str:
    """Return the path in the working directory: the same where it leads down, else its last part."""
    path = PurePosixPath(written)
    leads_down = not path.is_absolute() and ".." not in path.parts and not written.startswith("~")
    return str(path) if leads_down else path.name


def refuse_same_names(files: Sequence[OwnFile], what: str) -> None:
    """Raise UsageError if two files would have one place in the working directory."""
    seen: dict[str, str] = {}
    for file in files:
        other = seen.setdefault(file.name, file.key)
        if other != file.key:
            raise UsageError(f"{what}: {other} and {file.key} would both be {file.name} in the working directory")


def describe_stored(files: Iterable[OwnFile]) -> dict[str, StoredFile]:
    """Return what a campaign keeps of ``files``, by key."""
    return {
        file.key: StoredFile(
            sha256=file.sha256,
            is_executable=file.is_executable,
            libraries=[(library.name, library.sha256) for library in file.libraries],
        )
        for file in files
    }


def _make_stored(key: str, name: str, stored: StoredFile) -> OwnFile:
    libraries = tuple(
        OwnFile(f"{key}: {library}", library, Path(key), sha256, is_executable=True)
        for library, sha256 in stored.libraries
    )
    return OwnFile(key, name, Path(key), stored.sha256, stored.is_executable, libraries)
