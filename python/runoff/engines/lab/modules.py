"""A kernel's loadable modules: their dependencies, and their plain .ko files."""

import gzip
import lzma
import shutil
from pathlib import Path

import zstandard

from runoff.engines import tools
from runoff.errors import MissingError

LAB = ("libnvdimm", "nfit", "nd_btt", "nd_pmem", "ublk_drv", "virtio_blk")
"""Modules that the lab's guests may load: for NVDIMM images, ublk disks, virtio disks."""


class Modules:
    """The tree below ``lib/modules/RELEASE`` of one kernel, as depmod indexed it."""

    def __init__(self, tree: Path, plain: Path) -> None:
        """``tree`` holds modules.dep; ``plain`` receives the uncompressed files."""
        self._tree = tree
        self._plain = plain
        self._needs: dict[str, tuple[str, list[str]]] = {}
        self._builtin: frozenset[str] = frozenset()
        if (tree / "modules.dep").exists():
            self._needs = _read_dependencies((tree / "modules.dep").read_text())
        if (tree / "modules.builtin").exists():
            self._builtin = frozenset(_name(line) for line in (tree / "modules.builtin").read_text().split())

    def has(self, name: str) -> bool:
        """Return whether the module can be loaded or is built in."""
        return _name(name) in self._builtin or _name(name) in self._needs

    def files(self, name: str) -> list[Path]:
        """Return the .ko files to insert, in this order, so that ``name`` works; none when it is built in.

        Raises:
            MissingError: the kernel has no such module.
        """
        wanted = _name(name)
        if wanted in self._builtin:
            return []
        if wanted not in self._needs:
            raise MissingError(f"the kernel {self._tree.name} has no module {name}: add another with runoff kernel add")
        own, first = self._needs[wanted]
        return [self._unpacked(entry) for entry in [*reversed(first), own]]

    def _unpacked(self, entry: str) -> Path:
        source = self._tree / entry
        target = self._plain / f"{_name(entry)}.ko"
        content = _read(source)
        # A copy that is damaged is made again; the packed file has a checksum of its own.
        if not target.exists() or target.read_bytes() != content:
            self._plain.mkdir(parents=True, exist_ok=True)
            part = target.with_suffix(".part")
            part.write_bytes(content)
            part.replace(target)
        return target


def index(base: Path, release: str) -> None:
    """Write modules.dep for ``base``/lib/modules/``release``."""
    tools.run([tools.require("depmod", "kmod"), "-b", base, release], what=f"indexing the modules of {release}")


def copy(source: Path, tree: Path) -> None:
    """Copy a module tree without its links to the build directory, which may dangle."""
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns("build", "source", "vdso"))


def _read_dependencies(text: str) -> dict[str, tuple[str, list[str]]]:
    """Parse modules.dep (depmod.d(5)): the last dependency of a line has to be loaded first."""
    found = {}
    for line in text.splitlines():
        own, _, first = line.partition(":")
        found[_name(own)] = (own, first.split())
    return found


def _name(entry: str) -> str:
    """Return a module's name; the kernel takes ``-`` and ``_`` for the same."""
    return entry.rsplit("/", 1)[-1].split(".ko", 1)[0].replace("-", "_")


def _read(file: Path) -> bytes:
    """Read a module file. Raises MissingError if it is damaged."""
    data = file.read_bytes()
    try:
        match file.suffix:
            case ".xz":
                return lzma.decompress(data)
            case ".zst":
                return zstandard.ZstdDecompressor().decompressobj().decompress(data)
            case ".gz":
                return gzip.decompress(data)
            case _:
                return data
    except (OSError, EOFError, lzma.LZMAError, zstandard.ZstdError) as error:
        raise MissingError(f"{file} is damaged ({error}): remove its kernel and add it again (runoff kernel)") from None
