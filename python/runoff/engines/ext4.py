"""Turn a directory tree into an ext4 image without root, byte for byte the same for the same tree.

Versions of e2fsprogs differ in their defaults, and in a few bytes of what they write from a tree. So the defaults are
ours, and a tree that has e2fsprogs is written by its own.
"""

import functools
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from runoff.engines import sparse, tools

EPOCH_S = 1735689600
"""2025-01-01: every time stamp in an image. No guest's clock is earlier, so `make` sees no file from the future."""
FREE_BYTES = 256 << 20
"""Room for what workloads write."""
ALIGN_BYTES = 2 << 20
"""The kernel maps NVDIMMs in units of this size (memremap_compat_align)."""
DISK_LABEL = "scratch"
"""Label by which the guest recognises the disk (crates/agent/src/guest/mod.rs)."""
_UUID = "6f1d9cbb-4a49-4d5c-9a76-1d2f0f6f3b7e"
_BLOCK_BYTES = sparse.BLOCK_BYTES
_INODE_BYTES = 256
_SPARE_INODES = 32768
_BYTES_PER_INODE = 16384
_JOURNAL_BYTES = 16 << 20
_FIRST_INODE = 11
_ROOT_INODE = 2
PACKAGE = "e2fsprogs"
_FIXED = {
    "SOURCE_DATE_EPOCH": str(EPOCH_S),
    "E2FSPROGS_FAKE_TIME": str(EPOCH_S),
    # The distribution's defaults.
    "MKE2FS_CONFIG": os.devnull,
}
_FEATURES = (
    "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,huge_file,"
    "dir_nlink,extra_isize,metadata_csum"
)
# All of it is initialised now, or the guest's kernel would do that during the first samples.
_OPTIONS = (
    *("-q", "-F", "-b", str(_BLOCK_BYTES), "-I", str(_INODE_BYTES), "-O", _FEATURES, "-U", _UUID),
    *("-E", f"root_owner=0:0,hash_seed={_UUID},lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
)
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_LOADER = "ld-linux-x86-64.so.2"
_PROGRAMS = "usr/sbin"


def make(tree: Path, image: Path, *, is_trusted: bool = False) -> None:
    """Write ``tree`` as an ext4 file system owned by root with `FREE_BYTES` of room; modes are kept.

    The e2fsprogs of a tree that is trusted are run instead of this machine's.

    Raises:
        MissingError: e2fsprogs is not installed.
        RunoffError: it failed.
    """
    used, files = _measure(tree)
    inodes = files + _SPARE_INODES
    size = used + inodes * _INODE_BYTES + _JOURNAL_BYTES + FREE_BYTES
    size += -size % ALIGN_BYTES
    with image.open("wb") as file:
        file.truncate(size)
    find = functools.partial(_find_own, tree) if is_trusted and (tree / _PROGRAMS / "mke2fs").exists() else _find
    own = ("-m", "0", "-N", str(inodes), "-J", f"size={_JOURNAL_BYTES >> 20}", "-L", "runoff", "-d", tree)
    _run([*find("mke2fs"), *_OPTIONS, *own, image], f"making {image.name}")
    _normalise(image, find)


def write_blank(image: Path, size_mb: int) -> Path:
    """Write an empty ext4 file system.

    Raises:
        MissingError: e2fsprogs is not installed.
        RunoffError: it failed.
    """
    with image.open("wb") as file:
        file.truncate(size_mb << 20)
    own = ("-i", str(_BYTES_PER_INODE), "-L", DISK_LABEL)
    _run([*_find("mke2fs"), *_OPTIONS, *own, image], f"making {image.name}")
    return image


def write_blocks(target: Path, size_mb: int) -> Path:
    """Write the blocks of an empty file system that are not zero: records of an offset (8 bytes, least first) and its
    block.

    Raises:
        MissingError: e2fsprogs is not installed.
        RunoffError: it failed.
    """
    image = write_blank(target.with_suffix(".ext4"), size_mb)
    with target.open("wb") as out:
        for offset, block in sparse.read_blocks(image):
            out.write(offset.to_bytes(8, "little") + block)
    image.unlink()
    return target


def _measure(tree: Path) -> tuple[int, int]:
    """Return bytes in whole blocks and number of files of a tree."""
    used = files = 0
    for directory, subdirectories, names in os.walk(tree):
        for name in [*subdirectories, *names]:
            size = Path(directory, name).lstat().st_size
            used += -(-size // _BLOCK_BYTES) * _BLOCK_BYTES
            files += 1
    return used, files


def _find(program: str) -> list[str | Path]:
    return [tools.require(program, PACKAGE)]


def _find_own(tree: Path, program: str) -> list[str | Path]:
    libraries = tree / _LIBRARIES
    return [libraries / _LOADER, "--library-path", libraries, tree / _PROGRAMS / program]


def _run(command: Sequence[str | Path], what: str) -> str:
    return tools.run(command, what=what, env=_FIXED)


def _normalise(image: Path, find: Callable[[str], list[str | Path]]) -> None:
    """Give every inode to root and set its times: mkfs copies both from the machine that builds it."""
    header = _run([*find("dumpe2fs"), "-h", image], f"reading {image.name}")
    count, free = (_header_number(header, field) for field in ("Inode count", "Free inodes"))
    fields = {"uid": "0", "gid": "0"}
    for stamp in ("ctime", "atime", "mtime", "crtime"):
        fields |= {stamp: f"@{EPOCH_S}", f"{stamp}_extra": "0"}
    script = image.with_suffix(".debugfs")
    script.write_text(
        "".join(
            f"set_inode_field <{inode}> {field} {value}\n"
            for inode in [_ROOT_INODE, *range(_FIRST_INODE, count - free + 1)]
            for field, value in fields.items()
        )
    )
    _run([*find("debugfs"), "-w", "-f", script, image], f"setting the times in {image.name}")
    script.unlink()


def _header_number(header: str, field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+)$", header, re.MULTILINE)
    if found is None:
        raise ValueError(f"dumpe2fs states no {field}")
    return int(found.group(1))
