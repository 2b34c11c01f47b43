"""The guest's first file system: a newc cpio archive, the same bytes for the same content.

Format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
"""

import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from runoff.engines.lab import cache
from runoff.errors import MissingError, UsageError

MODULES = "/modules"
"""Guest directory of the .ko files; MODULES/order names them in the order to insert them."""
_DIRECTORIES = ("/boot", "/dev", "/image", "/modules", "/proc", "/run", "/sys", "/tmp")
_DEVICES = {"/dev/console": (5, 1), "/dev/null": (1, 3)}
_EXECUTABLE = stat.S_IFREG | 0o755
_PLAIN = stat.S_IFREG | 0o644


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def build(
    agent: Path,
    modules: Sequence[Path],
    files: Mapping[str, bytes | Path],
    out: Path,
    programs: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """Write the archive to ``out``.

    ``agent`` becomes /init; ``modules`` are inserted in the given order; ``files`` maps absolute guest paths to their
    content or to a file of the host; ``programs`` maps them to programs and libraries of the host
    (``libraries.add_libraries``). `Kernel.guest_files` gives the files that libbpf needs.

    Raises:
        MissingError: a file is missing. UsageError: a guest path is not absolute.
    """
    entries = {"/init": _Entry("/init", _EXECUTABLE, _read(agent))}
    for module in modules:
        path = f"{MODULES}/{module.name}"
        entries[path] = _Entry(path, _PLAIN, _read(module))
    order = "".join(f"{name}\n" for name in dict.fromkeys(module.name for module in modules))
    entries[f"{MODULES}/order"] = _Entry(f"{MODULES}/order", _PLAIN, order.encode())
    for path, program in programs.items():
        entries[path] = _Entry(path, _EXECUTABLE, _read(program))
    for path, content in files.items():
        if not path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise UsageError(f"{path!r} is not an absolute path for a guest's file: begin it with /")
        entries[path] = _Entry(path, _PLAIN, content if isinstance(content, bytes) else _read(content))
    with cache.explain_write_errors(), out.open("wb") as archive:
        for part in _archive(entries):
            archive.write(part)


def _archive(entries: Mapping[str, _Entry]) -> Iterator[bytes]:
    everything = {path: _Entry(path, stat.S_IFDIR | 0o755) for path in _parents([*_DIRECTORIES, *entries, *_DEVICES])}
    everything |= {path: _Entry(path, stat.S_IFCHR | 0o600, device=numbers) for path, numbers in _DEVICES.items()}
    everything |= entries
    for inode, path in enumerate(sorted(everything), start=1):
        yield from _record(everything[path], inode)
    yield from _record(_Entry("/TRAILER!!!", 0), 0)


def _parents(paths: Sequence[str]) -> set[str]:
    """Return every directory above the paths, and the ones listed for themselves."""
    above = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return (above | set(_DIRECTORIES)) - {"/"}


def _record(entry: _Entry, inode: int) -> Iterator[bytes]:
    name = entry.path.removeprefix("/").encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    user = group = modified = device_major = device_minor = checksum = 0
    of_file = (inode, entry.mode, user, group, links, modified, len(entry.content))
    numbers = (*of_file, device_major, device_minor, *entry.device, len(name), checksum)
    head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name
    yield head + b"\0" * (-len(head) % 4)
    yield entry.content + b"\0" * (-len(entry.content) % 4)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise MissingError(f"{path} does not exist, but the guest needs it") from error
