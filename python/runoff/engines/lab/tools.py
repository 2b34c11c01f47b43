"""External programs: found where an ordinary user's PATH does not look, run with errors that say what failed."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from runoff.errors import MissingError, RunoffError

_ADMIN_DIRECTORIES = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_TAIL_LINES = 4


def locate(program: str) -> str | None:
    """The program's path, also from the administrator's directories that many users lack in PATH."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_ADMIN_DIRECTORIES])
    return shutil.which(program, path=path)


def require(program: str, package: str) -> str:
    """The program's path.

    Raises:
        MissingError: it is not installed; the sentence names the package that brings it.
    """
    found = locate(program)
    if found is None:
        raise MissingError(f"the program {program} is missing: sudo apt-get install {package}")
    return found


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 1800,
) -> str:
    """Run a program to its end and return its standard output.

    ``what`` names the step in the error's sentence; ``env`` is added to the environment.

    Raises:
        RunoffError: it failed or took longer than ``timeout_s``; the last lines of its errors are quoted.
    """
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RunoffError(f"{what} took more than {timeout_s:.0f} s and was ended") from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()[-_TAIL_LINES:]
        raise RunoffError(f"{what} failed ({Path(command[0]).name}, exit {done.returncode}): {' / '.join(lines)}")
    return done.stdout
