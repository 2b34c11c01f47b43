"""The worker's side of parcels: received into the cache, checked on arrival, the oldest removed when there are many."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from runoff.cluster.parcels import Chunk, Parcel, is_at
from runoff.engines.lab import cache
from runoff.errors import MissingError

MOST_BYTES = 16 << 30
"""Most bytes of received parcels in the cache; beyond that the least recently used are removed."""
IN_USE_S = 86400.0
"""One that was used in this time is not removed."""


def _received() -> Path:
    return cache.root() / "received"


def _final_place(parcel: Parcel) -> Path:
    if parcel.kind == "snapshot":
        return cache.snapshots() / parcel.name
    return _received() / parcel.digest / parcel.name


def find(parcel: Parcel) -> Path | None:
    """Return where the parcel's content is on this machine: received, or at the sender's own place."""
    if _is_received(parcel):
        return _final_place(parcel)
    return parcel.source if parcel.kind == "supply" and is_at(parcel, parcel.source) else None


def _is_received(parcel: Parcel) -> bool:
    place = _final_place(parcel)
    if parcel.kind == "snapshot":
        # It is checked where it is used.
        return place.is_dir()
    if not is_at(parcel, place):
        return False
    os.utime(place.parent)
    return True


def _unfinished_place(parcel: Parcel, sender: str) -> Path:
    return _received() / f".{parcel.digest}.{sender}.part"


def begin(parcel: Parcel, sender: str) -> None:
    """Make room for a parcel from ``sender``, a word that nobody else has. Raises MissingError."""
    with cache.explain_write_errors():
        _received().mkdir(parents=True, exist_ok=True)
        _forget_old()
        part = _unfinished_place(parcel, sender)
        shutil.rmtree(part, ignore_errors=True)
        cache.require_room(_received(), (parcel.size_bytes >> 20) + 1)
        part.mkdir()
        for file in parcel.files:
            path = part / parcel.name / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as empty:
                empty.truncate(file.size_bytes)
            path.chmod(0o755 if file.is_executable else 0o644)


def write(parcel: Parcel, sender: str, chunks: Iterable[Chunk]) -> None:
    """Write pieces of it. Raises MissingError."""
    part = _unfinished_place(parcel, sender)
    with cache.explain_write_errors():
        for chunk in chunks:
            with (part / parcel.name / parcel.files[chunk.file].path).open("r+b") as file:
                file.seek(chunk.offset)
                file.write(chunk.content)


def finish(parcel: Parcel, sender: str) -> Path:
    """Check that all has arrived, and return the place that it was given. Raises MissingError."""
    part = _unfinished_place(parcel, sender)
    try:
        if not is_at(parcel, part / parcel.name):
            raise MissingError(f"{parcel.name} did not arrive as it was sent")
        place = _final_place(parcel)
        with cache.explain_write_errors():
            source, target = (part / parcel.name, place) if parcel.kind == "snapshot" else (part, place.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            # Another sender's may be in use.
            if not _rename(source, target) and not _is_received(parcel):
                shutil.rmtree(target, ignore_errors=True)
                source.rename(target)
            return place
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _rename(source: Path, target: Path) -> bool:
    try:
        source.rename(target)
    except OSError:
        return False
    return True


def _forget_old() -> None:
    """Remove parcels that are too many, and what was not finished."""
    now, left = time.time(), MOST_BYTES
    used: list[tuple[float, Path]] = []
    for path in _received().iterdir():
        with contextlib.suppress(FileNotFoundError):
            used.append((path.stat().st_mtime, path))
    for at, path in sorted(used, reverse=True):
        left -= cache.measure_bytes(path)
        is_unfinished = path.name.startswith(".")
        if now - at > IN_USE_S and (left < 0 or is_unfinished):
            shutil.rmtree(path, ignore_errors=True)
