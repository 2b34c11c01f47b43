"""External programs: found where an ordinary user's PATH does not look, run with errors that say what failed."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from runoff.errors import MissingError, RunoffError

_ADMIN_DIRECTORIES = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_TAIL_LINES = 4
_GRACE_S = 20.0


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
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise RunoffError(f"{what} took more than {timeout_s:.0f} s and was ended") from error
    finally:
        _end(process)
    if process.returncode != 0:
        lines = (errors.strip() or output.strip()).splitlines()[-_TAIL_LINES:]
        raise RunoffError(f"{what} failed ({Path(command[0]).name}, exit {process.returncode}): {' / '.join(lines)}")
    return output


def _end(process: subprocess.Popen[str]) -> None:
    """End a program that still runs; it gets time to remove what it has mounted and written."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
