"""A ``runoff`` command as a fork of the tests' own process, for where starting Python and its modules takes long."""

import importlib
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cache

import runoff

WANTED = "RUNOFF_FORKED"
"""Set in the environment where commands are to be forks: tests/host/guest.py."""


def command(
    words: list[str], environment: Mapping[str, str], first: Callable[[], None] | None = None
) -> Callable[[], None]:
    """The work of a child of ``subprocess.Popen`` instead of executing a program: ``preexec_fn``, after ``first``."""
    _import_all()

    def become() -> None:
        if first is not None:
            first()
        # With what the tests hold open goes the pipe through which Popen waits for the program to be executed.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # As Python sets it when it starts; Popen has just undone that for other programs.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["runoff", *words]
        sys.stdin, sys.stdout, sys.stderr = (open(fd, mode, closefd=False) for fd, mode in enumerate("rww"))  # noqa: SIM115
        os._exit(_run())

    return become


@cache
def _import_all() -> None:
    """Imports what commands import only when they need it, so that a fork has it already."""
    for module in pkgutil.walk_packages(runoff.__path__, "runoff."):
        importlib.import_module(module.name)


def _run() -> int:
    """The command's exit code. Nothing may be raised into the tests that this process was."""
    from runoff.cli.main import main

    try:
        main()
        code: object = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = 120
    return code if isinstance(code, int) else 0 if code is None else 1
