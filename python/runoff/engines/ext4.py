"""Turn a directory tree into an ext4 image without root, byte for byte the same for the same tree and e2fsprogs."""

import os
import re
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
_JOURNAL_BYTES = 16 << 20
_FIRST_INODE = 11
_ROOT_INODE = 2
_PACKAGE = "e2fsprogs"
_FIXED_TIME = {"SOURCE_DATE_EPOCH": str(EPOCH_S), "E2FSPROGS_FAKE_TIME": str(EPOCH_S)}


def make(tree: Path, image: Path) -> None:
    """Write ``tree`` as an ext4 file system owned by root with `FREE_BYTES` of room; modes are kept.

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
    fixed = f"root_owner=0:0,hash_seed={_UUID},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    options = f"-q -F -m 0 -b {_BLOCK_BYTES} -I {_INODE_BYTES} -N {inodes} -J size={_JOURNAL_BYTES >> 20} -L runoff"
    tools.run(
        [tools.require("mkfs.ext4", _PACKAGE), *options.split(), "-U", _UUID, "-E", fixed, "-d", tree, image],
        what=f"making {image.name}",
        env=_FIXED_TIME,
    )
    _normalise(image)


def write_blank(image: Path, size_mb: int) -> Path:
    """Write an empty ext4 file system.

    Raises:
        MissingError: e2fsprogs is not installed.
        RunoffError: it failed.
    """
    with image.open("wb") as file:
        file.truncate(size_mb << 20)
    # All of it is initialised now, or the guest's kernel would do that during the first samples.
    fixed = f"root_owner=0:0,hash_seed={_UUID},lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    options = f"-q -F -m 0 -b {_BLOCK_BYTES} -L {DISK_LABEL} -U {_UUID}"
    mkfs = tools.require("mkfs.ext4", _PACKAGE)
    tools.run([mkfs, *options.split(), "-E", fixed, image], what=f"making {image.name}", env=_FIXED_TIME)
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


def _normalise(image: Path) -> None:
    """Give every inode to root and set its times: mkfs copies both from the machine that builds it."""
    debugfs = tools.require("debugfs", _PACKAGE)
    header = tools.run(
        [tools.require("dumpe2fs", _PACKAGE), "-h", image], what=f"reading {image.name}", env=_FIXED_TIME
    )
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
    tools.run([debugfs, "-w", "-f", script, image], what=f"setting the times in {image.name}", env=_FIXED_TIME)
    script.unlink()


def _header_number(header: str, field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+)$", header, re.MULTILINE)
    if found is None:
        raise ValueError(f"dumpe2fs states no {field}")
    return int(found.group(1))
