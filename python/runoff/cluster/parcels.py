"""Files that travel to workers: each parcel is a file or a directory, known by the digest of its content."""

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal

from runoff.engines import sparse
from runoff.errors import MissingError

CHUNK_BYTES = 64 << 10
MESSAGE_CHUNKS = 128

Kind = Literal["supply", "snapshot"]
"""A snapshot of a guest has a place in the cache by its name; everything else by its digest."""


@dataclass(frozen=True, slots=True)
class ParcelFile:
    """One file."""

    path: str
    """Below the parcel's directory; empty if the parcel is this file."""
    sha256: str
    """As ``sparse.sha256`` has it: of length and content."""
    size_bytes: int
    is_executable: bool


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file or a directory of the sender."""

    kind: Kind
    source: Path
    files: tuple[ParcelFile, ...]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def digest(self) -> str:
        """Digest of names and content, whatever its place is."""
        identity = [self.name, *(astuple(file) for file in self.files)]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()

    @property
    def size_bytes(self) -> int:
        """With holes: more than is sent and stored."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file that is not zero throughout."""

    file: int
    """Index into the parcel's files."""
    offset: int
    content: bytes


def pack(source: Path, kind: Kind = "supply", leave_out: Collection[str] = ()) -> Parcel:
    """Describe ``source``, without what lies in its directories named in ``leave_out``. Raises MissingError."""
    try:
        if source.is_dir():
            inside = sorted(path for path in source.rglob("*") if path.is_file())
            wanted = [path for path in inside if path.relative_to(source).parts[0] not in leave_out]
            return Parcel(kind, source, tuple(_describe(path, str(path.relative_to(source))) for path in wanted))
        return Parcel(kind, source, (_describe(source, ""),))
    except OSError as error:
        raise MissingError(f"cannot read {error.filename or source}: {error.strerror}") from None


def _describe(path: Path, name: str) -> ParcelFile:
    about = path.stat()
    return ParcelFile(name, sparse.sha256(path), about.st_size, bool(about.st_mode & 0o100))


def is_at(parcel: Parcel, place: Path) -> bool:
    """Return whether exactly the parcel's files are at ``place``, as far as their content goes."""
    try:
        return all(sparse.sha256(place / file.path) == file.sha256 for file in parcel.files)
    except OSError:
        return False


def read_messages(parcel: Parcel) -> Iterator[list[Chunk]]:
    """Yield all content, a few chunks at a time. Raises MissingError."""
    waiting: list[Chunk] = []
    try:
        for number, file in enumerate(parcel.files):
            for offset, content in sparse.read_blocks(parcel.source / file.path, CHUNK_BYTES):
                waiting.append(Chunk(number, offset, content))
                if len(waiting) == MESSAGE_CHUNKS:
                    yield waiting
                    waiting = []
    except OSError as error:
        raise MissingError(f"cannot read {error.filename or parcel.source}: {error.strerror}") from None
    if waiting:
        yield waiting
