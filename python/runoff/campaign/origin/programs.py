"""What is known of the program of an arm."""

import contextlib
import hashlib
import os
import signal
import subprocess
from pathlib import Path

from runoff.engines.programs import store
from runoff.engines.programs.find import find_program
from runoff.errors import MissingError

_NOBODY = 65534
_LIMIT_S = 5.0
_LONGEST = 200
"""Characters of a line that is kept."""


def describe(name: str) -> dict[str, str]:
    """Return path and SHA-256 of the program, and the first line that it prints when asked for its version, if it does.

    Empty if it cannot be read: who starts it says why.
    """
    try:
        path = find_program(name)
    except MissingError:
        return {}
    try:
        with path.open("rb") as file:
            elf = file.read(4) == b"\x7fELF"
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return {}
    # A script may do all that it does whatever it is asked; a scheduler's program knows the word.
    version = _version(path) if elf else ""
    # One of the cache of root's cannot be asked as another user.
    version = version or next((str(build) for build in store.list_stored() if build.path == path), "")
    return {"program": str(path), "program_sha256": sha256} | ({"program_version": version} if version else {})


def _version(path: Path) -> str:
    """Ask the program for its version, as the user nobody, who cannot attach a scheduler by accident."""
    rights = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        process = subprocess.Popen(
            [path, "--version"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **rights,  # type: ignore[call-overload]
        )
    except OSError:
        return ""
    try:
        output, _ = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        output = b""
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    line = output.decode(errors="replace").strip().partition("\n")[0].strip()
    return line[:_LONGEST] if process.returncode == 0 else ""
