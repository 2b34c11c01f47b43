"""runoff's QEMU in the cache, named by what it is made of."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from runoff.engines.lab import cache
from runoff.engines.lab.emulator import recipe
from runoff.errors import MissingError

_META = "meta.json"
PROGRAM = "qemu-system-x86_64"


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about it that need no run."""

    version: str
    """The version that it prints."""
    sha256: str
    """The SHA-256 of the program."""
    compiler: str
    """First line of the compiler's version output."""


@dataclass(frozen=True, slots=True)
class Emulator:
    """A QEMU that was built."""

    name: str
    """The version, and a digest of source, patch and configuration."""
    directory: Path
    meta: Meta

    @property
    def program(self) -> Path:
        return self.directory / PROGRAM

    @property
    def is_current(self) -> bool:
        """Return whether it is the one that this runoff uses."""
        return self.name == recipe.name()

    @property
    def is_whole(self) -> bool:
        return self.program.is_file() and cache.known_sha256(self.program) == self.meta.sha256


def write_meta(directory: Path, meta: Meta) -> None:
    (directory / _META).write_text(json.dumps(asdict(meta), indent=2, sort_keys=True) + "\n", encoding="utf-8")


def directory_of(name: str) -> Path:
    return cache.emulators() / name


def is_whole(directory: Path) -> bool:
    """Return whether an undamaged QEMU is there."""
    return _read(directory).is_whole


def list_stored() -> list[Emulator]:
    """Return all stored builds, the current one first."""
    found = [_read(path.parent) for path in sorted(cache.emulators().glob(f"[!.]*/{_META}"))]
    return sorted(found, key=lambda emulator: not emulator.is_current)


def find_current() -> Emulator | None:
    """Return the build that this runoff uses, if there is one.

    Raises:
        MissingError: it is damaged.
    """
    found = next((emulator for emulator in list_stored() if emulator.is_current), None)
    if found is not None and not found.is_whole:
        raise MissingError(f"{found.program} is not what was built: build it anew", hint=("qemu", "build"))
    return found


def find(name: str) -> Emulator:
    """Return the stored build of this name.

    Raises:
        MissingError: there is none.
    """
    for emulator in list_stored():
        if emulator.name == name:
            return emulator
    raise MissingError(f"the lab has no QEMU {name}: see those it has", hint=("qemu", "list"))


def remove(name: str) -> Emulator:
    """Delete it, and return its description."""
    emulator = find(name)
    with cache.explain_write_errors():
        shutil.rmtree(emulator.directory)
    return emulator


def _read(directory: Path) -> Emulator:
    try:
        meta = Meta(**json.loads((directory / _META).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        meta = Meta("damaged", "", "")
    return Emulator(directory.name, directory, meta)
