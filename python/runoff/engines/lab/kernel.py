"""The lab's kernels in the cache: find one, list them, remove one."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from runoff.engines.lab import cache
from runoff.engines.lab.modules import Modules
from runoff.errors import MissingError
from runoff.text import suggest

FORMAT = 2
"""Version of the directory's layout; a kernel stored under another one has to be added again."""
_META = "meta.json"


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about a stored kernel that need no boot."""

    name: str
    """``debian:RELEASE``, ``host:RELEASE`` or ``file:RELEASE``."""
    release: str
    """The release as ``uname -r`` prints it."""
    version: str
    """The package's version, or where the file came from."""
    sched_ext: bool | None
    """CONFIG_SCHED_CLASS_EXT; None when no configuration is known."""
    btf: bool | None
    """CONFIG_DEBUG_INFO_BTF."""
    hz: int | None
    """CONFIG_HZ: timer ticks a second."""
    elf: bool
    """Whether the image is the ELF payload, which boots through PVH without unpacking itself."""
    sha256: str
    """Digest of the image that is booted."""
    config_sha256: str | None
    objection: str | None
    """Why schedulers cannot be attached although the configuration has sched_ext; None when they can."""
    packages: Mapping[str, Mapping[str, str]]
    """Version and sha256 by package name."""
    format: int = FORMAT


@dataclass(frozen=True)
class Kernel:
    """A kernel ready to boot."""

    meta: Meta
    directory: Path

    @property
    def name(self) -> str:
        """Full name, for instance ``debian:7.2.12+deb13-cloud-amd64``."""
        return self.meta.name

    @property
    def release(self) -> str:
        """The release as ``uname -r`` prints it in the guest."""
        return self.meta.release

    @property
    def vmlinux(self) -> Path:
        """The image for QEMU's ``-kernel``: ELF where it could be unpacked, else the bzImage."""
        return self.directory / "vmlinux"

    @property
    def config(self) -> Path | None:
        """The build configuration, or None when none is known."""
        path = self.directory / "config"
        return path if path.exists() else None

    @property
    def sched_ext(self) -> bool | None:
        """Whether schedulers can be attached; None when no configuration is known."""
        return False if self.meta.objection else self.meta.sched_ext

    @property
    def btf(self) -> bool | None:
        """Whether the kernel describes its types, which BPF programs need."""
        return self.meta.btf

    @property
    def sha256(self) -> str:
        """Hex digest of the image that was stored; `require_whole` compares it with the one that is booted."""
        return self.meta.sha256

    def require_whole(self) -> None:
        """Raise MissingError unless the image is the one that was stored."""
        name = self.meta.name
        for path, stored in ((self.vmlinux, self.sha256), (self.config, self.meta.config_sha256)):
            if stored is None or path is None:
                continue
            try:
                found = cache.known_sha256(path)
            except OSError as error:
                found = f"not to be had: {error.strerror}"
            if found != stored:
                raise MissingError(
                    f"the kernel {name} is damaged ({path}: its sha256 was {stored[:12]}, is {found[:40]}): "
                    f"runoff kernel remove {name}, then runoff kernel add {self._as_added}"
                )

    @property
    def _as_added(self) -> str:
        """The argument of `runoff kernel add` for it."""
        kind = self.meta.name.partition(":")[0]
        return {"host": "host", "file": f"file:{self.meta.version}"}.get(kind, self.meta.name)

    @cached_property
    def modules(self) -> Modules:
        """The loadable modules."""
        return Modules(module_tree(self.directory, self.release), self.directory / "ko")

    def module(self, name: str) -> list[Path]:
        """Return the .ko files to insert in this order for ``name``; empty when it is built in.

        Raises:
            MissingError: this kernel has no such module.
        """
        with cache.explain_write_errors():
            return self.modules.files(name)

    def guest_files(self) -> dict[str, Path]:
        """Return the files about its kernel that the guest needs, by guest path: libbpf reads the configuration
        there."""
        return {f"/boot/config-{self.release}": self.config} if self.config else {}


def module_tree(directory: Path, release: str) -> Path:
    """Return where a stored kernel keeps its modules: the place ``depmod -b`` expects."""
    return directory / "lib/modules" / release


def directory_of(name: str) -> Path:
    """Return the cache directory of the kernel with this full name, in the layout of this version of runoff."""
    return cache.kernels() / f"{re.sub(r'[^A-Za-z0-9.+_-]', '_', name)}-format{FORMAT}"


def write_meta(directory: Path, meta: Meta) -> None:
    """Store the facts about the kernel in ``directory``."""
    (directory / _META).write_text(json.dumps(asdict(meta), indent=2, sort_keys=True) + "\n")


def list_stored() -> list[Kernel]:
    """Return all usable kernels, newest release first."""
    directories = [meta.parent for meta in cache.kernels().glob(f"[!.]*/{_META}")]
    found = [kernel for directory in directories if (kernel := _read(directory)) is not None]
    return sorted(found, key=lambda kernel: release_key(kernel.release), reverse=True)


def is_whole(directory: Path) -> bool:
    """Return whether there is a kernel in the layout of this version of runoff."""
    return _read(directory) is not None


def _read(directory: Path) -> Kernel | None:
    """Return the kernel that is stored there; None if another version stored it, or if it is damaged."""
    try:
        fields = json.loads((directory / _META).read_text())
        return Kernel(Meta(**fields), directory) if fields["format"] == FORMAT else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def release_key(release: str) -> tuple[int, ...]:
    """Return the key that sorts releases by their numbers, left to right."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


def matches(release: str, prefix: str) -> bool:
    """Return whether ``release`` begins with the version ``prefix``, whole numbers only: 6.1 does not fit 6.19."""
    return not prefix or re.match(re.escape(prefix) + r"(?!\d)", release) is not None


def find(name: str) -> Kernel:
    """Return the newest stored kernel of that name: ``debian``, ``debian:6.19``, ``host``, or a full name.

    Raises:
        MissingError: there is none; the message says how to add it.
    """
    kind, _, version = name.partition(":")
    for kernel in list_stored():
        own_kind, _, _ = kernel.name.partition(":")
        if own_kind == kind and (not version or matches(kernel.release, version)):
            return kernel
    if kind in ("debian", "host", "file"):
        raise MissingError(f"the lab has no kernel {name}", hint=("kernel", "add", name))
    names = [kernel.name for kernel in list_stored()]
    raise MissingError(f"the lab has no kernel {name}{suggest(name, names)}")


def find_default() -> Kernel:
    """Return the kernel the lab boots when none is named: the newest that schedulers can be attached to.

    Raises:
        MissingError: there is none.
    """
    able = [kernel for kernel in list_stored() if kernel.sched_ext]
    if not able:
        raise MissingError("the lab has no kernel with sched_ext yet", hint=("kernel", "add", "debian"))
    preferred = [kernel for kernel in able if kernel.name.startswith("debian:")]
    return (preferred or able)[0]


def remove(name: str) -> Kernel:
    """Delete the stored kernel that `find` would return, and return its description."""
    kernel = find(name)
    with cache.explain_write_errors():
        shutil.rmtree(kernel.directory)
    return kernel
