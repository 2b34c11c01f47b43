"""Sparse files: only written data take room."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

BLOCK_BYTES = 4096
"""The smallest hole."""
_HASHED_BYTES = 16 * BLOCK_BYTES


def read_blocks(path: Path, size: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield the blocks of ``size`` that are not zero throughout, each with its offset; the last may be short."""
    with path.open("rb") as file:
        offset = 0
        for start, end in _find_data(file.fileno()):
            # If a part begins in the middle of a block, that may have been read with the one before.
            offset = max(offset, start - start % size)
            file.seek(offset)
            while offset < end:
                block = file.read(size)
                if block.count(0) < len(block):
                    yield offset, block
                offset += size


def sha256(path: Path) -> str:
    """Return the hex digest of a file's length and `blocks`: the same wherever its holes are."""
    digest = hashlib.sha256(str(path.stat().st_size).encode())
    for offset, block in read_blocks(path, _HASHED_BYTES):
        digest.update(offset.to_bytes(8, "little") + block)
    return digest.hexdigest()


def copy(source: str, target: str) -> str:
    """Copy a file with its times and permissions, holes as holes; for `shutil.copytree`. Raises OSError."""
    with Path(target).open("xb") as copied:
        for offset, block in read_blocks(Path(source), _HASHED_BYTES):
            copied.seek(offset)
            copied.write(block)
        copied.truncate(Path(source).stat().st_size)
    shutil.copystat(source, target)
    return target


def _find_data(descriptor: int) -> Iterator[tuple[int, int]]:
    """Yield parts that are not holes: where each begins and ends."""
    end = 0
    while True:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError:
            return
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end
