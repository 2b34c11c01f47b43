"""Where a program that attaches a scheduler is: by its path, in PATH, in /usr/bin, or in runoff's cache."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

from runoff.engines.programs import store
from runoff.errors import MissingError

_USUAL = ("/usr/local/bin", "/usr/bin")
"""Directories that PATH may lack, as that of sudo does."""
_NO_SCHEDULERS = {"scx_loader"}
"""Programs that are called so, and attach no scheduler themselves."""


@dataclass(frozen=True, slots=True)
class Found:
    """A program of the scx project on this machine."""

    name: str
    path: Path
    version: str
    """Empty where it is not known without a run."""


def find_program(name: str) -> Path:
    """Return the path of a program. Raises MissingError with the way to it."""
    path = which(name, path=_search_path()) if "/" not in name else which(name)
    if path is not None:
        return Path(path).resolve()
    build = store.find(name) if "/" not in name else None
    if build is not None:
        return build.path
    if name.startswith("scx_"):
        crate, _, version = name.partition("-")
        wanted = f"{crate}@{version}" if version else crate
        raise MissingError(f"the program {name} was not found: install it, or build it", hint=("scx", "add", wanted))
    raise MissingError(f"the program {name} was not found: install it, or give its path")


def locate_program(scheduler: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an arm's scheduler with the path of its program, if it is one. Raises MissingError."""
    if scheduler["kind"] != "program":
        return scheduler
    program, *arguments = scheduler["argv"]
    return {**scheduler, "argv": [program if "/" in program else str(find_program(program)), *arguments]}


def list_programs() -> list[Found]:
    """Return the programs of the scx project that this machine has, as an arm would find them, by name."""
    found: dict[str, Found] = {}
    for path in _list_installed():
        found.setdefault(path.name, Found(path.name, path, ""))
    for build in store.list_stored():
        for name in (build.meta.program, build.name):
            found.setdefault(name, Found(name, build.path, build.meta.version))
    return [found[name] for name in sorted(found)]


def _list_installed() -> Iterator[Path]:
    for folder in _search_path().split(os.pathsep):
        for path in sorted(Path(folder or ".").glob("scx_*")):
            if path.name not in _NO_SCHEDULERS and path.is_file() and os.access(path, os.X_OK):
                yield path


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *_USUAL])
