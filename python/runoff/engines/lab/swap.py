"""Swap space for a guest: a sparse file with the header that the guest's kernel wants to find."""

import struct
from pathlib import Path

_PAGE_BYTES = 4096
_MAGIC = b"SWAPSPACE2"


def make(file: Path, size_mb: int) -> Path:
    """Write ``file``; it takes one page (union swap_header of the kernel's include/linux/swap.h, version 1)."""
    last_page = (size_mb << 20) // _PAGE_BYTES - 1
    header = bytes(1024) + struct.pack("=II", 1, last_page)
    with file.open("wb") as opened:
        opened.write(header.ljust(_PAGE_BYTES - len(_MAGIC), b"\0") + _MAGIC)
        opened.truncate(size_mb << 20)
    return file
