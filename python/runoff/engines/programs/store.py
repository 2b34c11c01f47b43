"""Programs of the scx project that runoff has built, in the cache, one folder for each version."""

import json
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from runoff.engines.lab import cache
from runoff.errors import MissingError

_META = "meta.json"


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about a build that need no run."""

    program: str
    version: str
    sha256: str
    """The SHA-256 of the program."""
    compilers: str
    """First lines of what the compilers of both languages print as their versions."""


@dataclass(frozen=True, slots=True)
class Build:
    """A program that was built."""

    directory: Path
    meta: Meta

    def __str__(self) -> str:
        return f"{self.meta.program} {self.meta.version}"

    @property
    def name(self) -> str:
        """The name that an arm has for this version, such as ``scx_lavd-1.1.4``."""
        return self.directory.name

    @property
    def path(self) -> Path:
        return self.directory / self.meta.program

    @property
    def is_whole(self) -> bool:
        return self.path.is_file() and cache.known_sha256(self.path) == self.meta.sha256

    @property
    def order(self) -> tuple[str, tuple[int, ...]]:
        """A key by which versions of one program are in their order."""
        return self.meta.program, tuple(map(int, re.findall("[0-9]+", self.meta.version)))


def root() -> Path:
    """Return the directory with one folder per build."""
    return cache.root() / "scx"


def directory_of(program: str, version: str) -> Path:
    return root() / f"{program}-{version}"


def write_meta(directory: Path, meta: Meta) -> None:
    (directory / _META).write_text(json.dumps(asdict(meta), indent=2, sort_keys=True) + "\n", encoding="utf-8")


def is_whole(directory: Path) -> bool:
    """Return whether an undamaged build is there."""
    return _read(directory).is_whole


def list_stored() -> list[Build]:
    """Return all builds, by name, the newest version first."""
    found = [_read(path.parent) for path in root().glob(f"[!.]*/{_META}")]
    newest = sorted(found, key=lambda build: build.order, reverse=True)
    return sorted(newest, key=lambda build: build.meta.program)


def find(name: str) -> Build | None:
    """Return the build of this name, of which a program's name alone means the newest version; None if there is none.

    Raises MissingError for one that is damaged.
    """
    found = next((build for build in list_stored() if name in (build.meta.program, build.name)), None)
    if found is not None and not found.is_whole:
        raise MissingError(f"{found.path} is not what was built: remove it", hint=("scx", "remove", found.name))
    return found


def remove(name: str) -> list[Build]:
    """Delete one version, or all of a program; return what went. Raises MissingError."""
    found = [build for build in list_stored() if name in (build.meta.program, build.name)]
    if not found:
        raise MissingError(f"the cache has no program {name}: see those it has", hint=("scx", "list"))
    with cache.explain_write_errors():
        for build in found:
            shutil.rmtree(build.directory)
    return found


def _read(directory: Path) -> Build:
    try:
        meta = Meta(**json.loads((directory / _META).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        meta = Meta(directory.name.partition("-")[0], "damaged", "", "")
    return Build(directory, meta)
