"""Checks what works and loads need before the first sample: patterns that find numbers, programs, and modules."""

import errno
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import which

from runoff.engines import cpu_limit, tools
from runoff.engines.distribution import DEBIAN, find_distribution, render_install
from runoff.engines.questions import check_finds
from runoff.errors import MissingError, UsageError
from runoff.plan.plan import Plan
from runoff.workloads import OwnFile, Work
from runoff.workloads.parse import find_shell_signs

_SEARCHED = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where the agent looks for programs (crates/machine/src/scratch.rs)."""
_OWN = "runoff-agent"
_LONGEST_FIRST_LINE = 256
"""What the kernel reads of a script to find its interpreter (BINPRM_BUF_SIZE)."""


def require_findable(plan: Plan) -> None:
    """Raise UsageError that names the first metric whose pattern or query cannot find a number."""
    named = [(work, name, metric.find) for work in _works(plan) for name, metric in work.definition.metrics.items()]
    for (work, name, find), objection in zip(named, check_finds([find for _, _, find in named]), strict=True):
        if objection is not None:
            ((way, sought),) = find.items()
            raise UsageError(f"{work.source.name}: metrics.{name}.{way} {sought!r} {objection}")


def require_programs_here(plan: Plan) -> None:
    """Raise MissingError naming a program, file or module that this machine lacks, and the way to it."""
    path = os.pathsep.join(_SEARCHED)
    for work in _works(plan):
        about = f"{_noun(plan, work)} {work.label!r}"
        for program in work.definition.programs:
            if which(program) is None:
                raise MissingError(f"{about} needs {program}: {render_install(work.definition.packages)}")
        for file in work.needs:
            if not Path(file).exists():
                raise MissingError(f"{about} needs {file} on the host: {_find_way_to(file, work)}, or use --on lab")
        for port in work.ports:
            _require_port(port, about)
        for controller in work.controllers:
            _require_controller(controller, about)
        for module in work.definition.modules:
            if not _has_module(module):
                raise MissingError(f"{about} needs the kernel module {module}: sudo modprobe {module}")
        _require_startable(work, about, lambda program: which(program, path=path) is not None, "install it")


def _require_port(port: str, about: str) -> None:
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 1 << 16:
        raise UsageError(f"{about}: {port!r} is not the number of a port")
    with socket.socket() as listener:
        # Connections that have ended keep a port from those only who do not say this.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", int(port)))
        except OSError as error:
            reason = "something here has it" if error.errno == errno.EADDRINUSE else os.strerror(error.errno or 0)
            raise MissingError(f"{about} needs the port {port}, and {reason}: choose another one") from None


def _find_way_to(file: str, work: Work) -> str:
    sources = work.definition.sources
    if not sources:
        return "put it there"
    unpack = f"unpack the source of {' and '.join(sources)} in {Path(file).parent}"
    return unpack if find_distribution() is not DEBIAN else f"{unpack} (apt-get source {' '.join(sources)})"


def require_programs_in(image: Path, plan: Plan) -> None:
    """Raise MissingError naming a program that a guest with this image lacks."""

    def is_there(program: str) -> bool:
        return any(_is_in(image, path) for path in _places(program))

    for work in _works(plan):
        about = f"{_noun(plan, work)} {work.label!r}"
        _require_startable(work, about, is_there, "name the Debian package that has it with --package")


def _require_startable(work: Work, about: str, is_there: Callable[[str], bool], way_out: str) -> None:
    """Require the user's own programs, and the first of all; earlier programs of the work may make the others."""
    commands = [work.fill(argv) for argv in work.definition.commands]
    own = {f"./{file.name}": file for file in work.files}
    for argv in commands:
        if argv and argv[0] in own:
            _require_own(own[argv[0]], about, is_there, way_out)
    if commands and commands[0] and commands[0][0] not in own and "PATH" not in work.definition.environment:
        _require_first(commands[0], about, is_there, way_out)


def _require_own(file: OwnFile, about: str, is_there: Callable[[str], bool], way_out: str) -> None:
    if not file.is_executable:
        raise UsageError(f"{about}: {file.key} is not executable: chmod +x {file.key}")
    with file.path.open("rb") as content:
        first_line = content.readline(_LONGEST_FIRST_LINE)
    if first_line.startswith(b"\x7fELF"):
        return
    words = first_line.removeprefix(b"#!").decode(errors="replace").split()
    if not first_line.startswith(b"#!") or not words:
        raise UsageError(f"{about}: {file.key} is neither a program nor a script: its first line has no #!/bin/sh")
    interpreter, *arguments = words
    asked = [word for word in arguments if not word.startswith("-") and "=" not in word]
    for program in (interpreter, *(asked[:1] if Path(interpreter).name == "env" else ())):
        if not is_there(program):
            raise MissingError(f"{about}: {file.key} is a script for {program}, which was not found: {way_out}")


def _require_first(command: Sequence[str], about: str, is_there: Callable[[str], bool], way_out: str) -> None:
    program = command[0]
    if program == _OWN:
        return
    if program.startswith("/") or "/" not in program:
        if is_there(program):
            return
        if program.startswith("/") and Path(program).exists():
            way_out += "; what begins with ./, ../ or ~/ is brought from here"
    else:
        way_out = "each sample begins in an empty directory, so name it in files = [...]"
    if find_shell_signs(command):
        way_out = "a shell is needed for such a line, as in command:sh -c '...'"
    raise MissingError(f"{about}: the program {program} was not found: {way_out}")


def _require_controller(name: str, about: str) -> None:
    """Require a controller of control groups to be on for the groups that the agent makes."""
    top = cpu_limit.find_hierarchy()
    if top is None:
        raise MissingError(f"{about} needs control groups: sudo mount -t cgroup2 none /sys/fs/cgroup, or use --on lab")
    switch = top / "cgroup.subtree_control"
    if name not in switch.read_text().split():
        way_out = f"echo +{name} | sudo tee {switch}, or use --on lab"
        raise MissingError(f"{about} needs the controller {name} of control groups, which is off: {way_out}")


def _has_module(name: str) -> bool:
    """Return whether this machine's kernel has the module loaded, or built in."""
    name = name.replace("-", "_")
    builtin = Path("/lib/modules", os.uname().release, "modules.builtin")
    try:
        names = {line.rpartition("/")[2].removesuffix(".ko").replace("-", "_") for line in builtin.read_text().split()}
    except OSError:
        names = set()
    return name in names or Path("/sys/module", name).is_dir()


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
