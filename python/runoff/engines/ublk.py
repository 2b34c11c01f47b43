"""Disks behind elevators on this machine, outside any campaign: made for a user, listed, removed."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runoff.engines.agent import find_agent
from runoff.engines.control import raise_failure
from runoff.errors import RunoffError, UsageError
from runoff.plan.elevators import Elevator

CONTROL = Path("/dev/ublk-control")
"""Device that exists once the kernel's driver is loaded."""


def add(elevator: Elevator, model: str, size_mb: int | None, file: Path | None) -> Mapping[str, Any]:
    """Start a server that outlives this process; return its ``device``, ``elevator`` and ``identity``.

    Without ``size_mb`` the disk is as large as its model, without ``file`` its data are in memory. Raises RunoffError;
    then there is neither a disk nor a file for it.
    """
    words = ["--keep", "--elevator", elevator.name, "--model", model]
    words += ["--size-mb", str(size_mb)] if size_mb is not None else []
    words += ["--file", str(file.absolute())] if file is not None else []
    if file is not None and os.path.lexists(file):
        raise UsageError(f"{file} is there already, and a new disk begins empty: name another file, or remove it")
    return _start([*words, "--", *(f"{key}={value}" for key, value in elevator.parameters.items())], file)


def _start(words: Sequence[str], file: Path | None) -> Mapping[str, Any]:
    # A session of its own: what ends this process and its terminal must not end the disk.
    server = subprocess.Popen(
        [find_agent(), "disk", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stdout is not None
    try:
        line = server.stdout.readline()
    except BaseException:
        server.terminate()
        announced_late, _ = server.communicate()
        # A server that has not announced its disk leaves no file.
        if announced_late and file is not None:
            file.unlink(missing_ok=True)
        raise
    if not line:
        _, errors = server.communicate()
        raise_failure(server.returncode, errors, left="there is no disk")
        raise RunoffError("the disk's server ended at once")
    announced: Mapping[str, Any] = json.loads(line)
    return announced


def list_disks() -> Sequence[Mapping[str, Any]]:
    """Return all disks of runoff on this machine: ``device``, ``server`` (process, or None if it is gone), ``disk``
    (its description, or None) and ``users``. Raises RunoffError."""
    found: Sequence[Mapping[str, Any]] = json.loads(_ask("disks"))
    return found


def remove(device: str, *, force: bool) -> Mapping[str, Any]:
    """Remove a disk of runoff; return ``disk`` and its ``counts``, None if its server is gone.

    Raises RunoffError; then the disk is still there, unless the message says otherwise.
    """
    removed: Mapping[str, Any] = json.loads(_ask("disk-remove", *(["--force"] if force else []), "--", device))
    return removed


def _ask(*words: str) -> str:
    done = subprocess.run([find_agent(), *words], capture_output=True, text=True, check=False)
    raise_failure(done.returncode, done.stderr, left="look at runoff disk list")
    return done.stdout
