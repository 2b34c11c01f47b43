"""External programs: found even outside an ordinary user's PATH, and run with errors that say what failed."""

import hashlib
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from runoff.engines.distribution import render_install
from runoff.errors import MissingError, RunoffError

_ADMIN_DIRECTORIES = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_TAIL_LINES = 4
_GRACE_S = 20.0


def locate(program: str) -> str | None:
    """Return the program's path, also from the administrator's directories that many users lack in PATH."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_ADMIN_DIRECTORIES])
    return shutil.which(program, path=path)


def require(program: str, package: str) -> str:
    """Return the program's path.

    Raises:
        MissingError: it is not installed; the message names its package.
    """
    found = locate(program)
    if found is None:
        raise MissingError(f"the program {program} is missing: {render_install([package])}")
    return found


def hash_programs(programs: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each program that PATH has, by its name."""
    found = {name: shutil.which(name) for name in sorted(set(programs))}
    table = {}
    for name, path in found.items():
        if path is not None:
            with Path(path).open("rb") as file:
                table[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return table


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 1800,
    with_errors: bool = False,
) -> str:
    """Run a program to its end and return its standard output, with what it prints as errors if that is wanted too.

    ``what`` names the step in the error; ``env`` is added to the environment.

    Raises:
        RunoffError: it failed or took longer than ``timeout_s``; the last lines of its errors are quoted.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if with_errors else subprocess.PIPE,
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
        lines = ((errors or "").strip() or output.strip()).splitlines()[-_TAIL_LINES:]
        raise RunoffError(f"{what} failed ({Path(command[0]).name}, exit {process.returncode}): {' / '.join(lines)}")
    return output


def follow(
    command: Sequence[str | Path],
    on_line: Callable[[str], None],
    *,
    what: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a program to its end and pass on each line that it prints. ``env`` is added to the environment.

    Raises:
        RunoffError: it failed; its last lines are quoted.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    last: deque[str] = deque(maxlen=_TAIL_LINES)
    try:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                last.append(line.rstrip())
                on_line(line)
        process.wait()
    finally:
        _end(process)
    if process.returncode != 0:
        raise RunoffError(f"{what} failed (exit {process.returncode}): {' / '.join(last)}")


def _end(process: subprocess.Popen[str]) -> None:
    """End a program that still runs; it gets time to remove what it has mounted and written."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
