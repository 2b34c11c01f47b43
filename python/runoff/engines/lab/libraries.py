"""The libraries that programs of this machine load, which travel with them into guests."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from runoff.engines import tools
from runoff.engines.lab import cache
from runoff.errors import MissingError, UsageError
from runoff.plan.plan import Plan
from runoff.workloads import OwnFile, Work
from runoff.workloads.own_files import LIBRARIES

_LDD_LINE = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_LDD_LOADER = re.compile(r"^\s*(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_LDD_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_ELF = b"\x7fELF"
_MACHINE = slice(18, 20)
"""Place of ``e_machine`` in an ELF header (elf(5))."""
_X86_64 = (62).to_bytes(2, "little")


class Libraries(NamedTuple):
    """What a program loads, by the paths that ``ldd`` names."""

    loader: str
    """The dynamic linker; empty if the program needs none."""
    others: list[str]


def add_libraries(programs: Mapping[str, Path]) -> dict[str, Path]:
    """Return ``programs`` with the libraries that they load, by path in the guest. Raises MissingError."""
    needed = [list_libraries(program) for program in programs.values()]
    paths = [path for each in needed for path in (each.loader, *each.others) if path]
    return {**{path: Path(path) for path in paths}, **programs}


def list_libraries(program: Path) -> Libraries:
    """Return what a program loads.

    Raises:
        MissingError: the program or one of the libraries is not there.
    """
    if not program.is_file():
        raise MissingError(f"the program {program} does not exist: give its full path")
    ldd = subprocess.run(
        [tools.require("ldd", "libc-bin"), str(program.absolute())], capture_output=True, text=True, check=False
    )
    lost = _LDD_MISSING.findall(ldd.stdout)
    if lost:
        raise MissingError(f"{program} needs {', '.join(lost)}, which this machine does not have: install the library")
    loader = "".join(_LDD_LOADER.findall(ldd.stdout)[:1])
    return Libraries(loader, [path for path in _LDD_LINE.findall(ldd.stdout) if path != loader])


def bring_libraries(plan: Plan) -> Plan:
    """Return a plan for guests in which each program of the user's has its libraries.

    Raises:
        UsageError: a program is for other processors.
        MissingError: this machine lacks a library.
    """
    if not plan.settings.engine.has_guests or not plan.own_files:
        return plan

    # Works of several parameters bring the same program.
    libraries = {file.key: tuple(_find(file)) for file in plan.own_files}

    def bring(work: Work) -> Work:
        return replace(work, files=tuple(replace(file, libraries=libraries[file.key]) for file in work.files))

    loads = tuple(None if load is None else bring(load) for load in plan.loads)
    return replace(plan, works=tuple(bring(work) for work in plan.works), loads=loads)


def _find(file: OwnFile) -> Iterator[OwnFile]:
    if not file.is_executable or not _is_program(file):
        return
    loader, others = list_libraries(file.path)
    if not loader:
        return
    folder = f"{LIBRARIES}/{file.name}"
    # The kernel names a process by the file that it starts.
    yield _make(file, f"{folder}/{Path(file.name).name}", Path(loader))
    for path in others:
        yield _make(file, f"{folder}/{Path(path).name}", Path(path))


def _is_program(file: OwnFile) -> bool:
    """Return whether it is a program and not a script. Raises UsageError if it is for other processors."""
    with file.path.open("rb") as content:
        header = content.read(20)
    if header.startswith(_ELF) and header[_MACHINE] != _X86_64:
        raise UsageError(f"{file.key} is a program for other processors than the lab's, which are x86-64")
    return header.startswith(_ELF)


def _make(file: OwnFile, name: str, path: Path) -> OwnFile:
    return OwnFile(f"{file.key}: {name}", name, path, cache.sha256(path), is_executable=True)
