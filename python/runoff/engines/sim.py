"""The simulator's program, which opens compiled schedulers in user space: no root, no kernel, no compiler."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any

from runoff.errors import MissingError, RunoffError, UsageError, choose_error
from runoff.reading import read_named


def find_sim() -> Path:
    """Return the program: ``RUNOFF_SIM``, beside this Python, or on the path. Raises MissingError."""
    beside = Path(sys.executable).parent / "runoff-sim"
    for candidate in (os.environ.get("RUNOFF_SIM"), str(beside), which("runoff-sim")):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate).resolve()
    raise MissingError("runoff-sim was not found: install the runoff wheel, or set RUNOFF_SIM to the program")


def list_kernels() -> Sequence[Mapping[str, Any]]:
    """Return the kernels that are described, the oldest first, with the release that each description is of."""
    return list(json.loads(_ask("kernels")))


def inspect(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return what the schedulers in an object file or a program hold and ask of kernels.

    Raises UsageError if there is none that can be read.
    """
    try:
        content = read_named(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        return list(json.loads(_ask("inspect", content)))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _ask(question: str, content: bytes = b"") -> bytes:
    sim = find_sim()
    try:
        done = subprocess.run([sim, question], input=content, capture_output=True, check=False)
    except OSError as error:
        raise RunoffError(f"{sim} {question} failed: {error}") from None
    if done.returncode != 0:
        raise choose_error(done.returncode)(done.stderr.decode(errors="replace").strip().removeprefix("runoff-sim: "))
    return done.stdout
