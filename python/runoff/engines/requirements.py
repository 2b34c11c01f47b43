"""Checks what works and loads need before the first sample: patterns that find numbers, and programs."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which

from runoff.engines import tools
from runoff.engines.agent import check_finds
from runoff.errors import MissingError, UsageError
from runoff.plan.plan import Plan
from runoff.workloads import Work

_SEARCHED = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where the agent looks for programs (crates/machine/src/scratch.rs)."""
_OWN = "runoff-agent"
_SHELL = {"&&", "||", "|", ";", ">", ">>", "<"}


def require_findable(plan: Plan) -> None:
    """Raise UsageError that names the first metric whose pattern or query cannot find a number."""
    named = [(work, name, metric.find) for work in _works(plan) for name, metric in work.definition.metrics.items()]
    for (work, name, find), objection in zip(named, check_finds([find for _, _, find in named]), strict=True):
        if objection is not None:
            ((way, sought),) = find.items()
            raise UsageError(f"{work.source.name}: metrics.{name}.{way} {sought!r} {objection}")


def require_programs_here(plan: Plan) -> None:
    """Raise MissingError naming a program or file that this machine lacks, and its package where that is known."""
    path = os.pathsep.join(_SEARCHED)
    for work in _works(plan):
        for program in work.definition.programs:
            if which(program) is None:
                packages = " ".join(work.definition.packages)
                raise MissingError(f"{_noun(plan, work)} {work.label!r} needs {program}: apt-get install {packages}")
        for file in work.files:
            if not Path(file).exists():
                raise MissingError(
                    f"{_noun(plan, work)} {work.label!r} needs {file} on the host: put it there, or use --on lab"
                )
        _require_first(plan, work, lambda program: which(program, path=path) is not None, "install it")


def require_programs_in(image: Path, plan: Plan) -> None:
    """Raise MissingError naming a program that a guest with this image lacks."""

    def is_there(program: str) -> bool:
        return any(_is_in(image, path) for path in _places(program))

    for work in _works(plan):
        _require_first(plan, work, is_there, "name the Debian package that has it with --package")


def _require_first(plan: Plan, work: Work, is_there: Callable[[str], bool], way_out: str) -> None:
    """Require the first program of a work; earlier programs of the work may make the others."""
    message = work.message(None)
    command = next(iter([*message["prepare"], message["command"]]))
    if not command or command[0] == _OWN or "PATH" in message["environment"]:
        return
    program = command[0]
    if program.startswith("/") or "/" not in program:
        if is_there(program):
            return
    else:
        way_out = "each sample begins in an empty directory, so give the whole path"
    if _SHELL.intersection(command) or any(word.endswith(";") for word in command):
        way_out = "a shell is needed for such a line, as in command:sh -c '...'"
    raise MissingError(f"{_noun(plan, work)} {work.label!r}: the program {program} was not found: {way_out}")


def _works(plan: Plan) -> Iterator[Work]:
    """Yield each workload and load once."""
    seen = set()
    for work in (*plan.works, *plan.loads):
        if work is not None and id(work) not in seen:
            seen.add(id(work))
            yield work


def _noun(plan: Plan, work: Work) -> str:
    return "workload" if work in plan.works else "load"


def _places(program: str) -> list[str]:
    return [program] if program.startswith("/") else [f"{folder}/{program}" for folder in _SEARCHED]


def _is_in(image: Path, path: str) -> bool:
    """Return whether an ext4 image has something at ``path``; links on the way are followed."""
    debugfs = tools.require("debugfs", "e2fsprogs")
    return "Inode: " in tools.run([debugfs, "-R", f'stat "{path}"', image], what=f"looking into {image.name}")
