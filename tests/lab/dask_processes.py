"""A scheduler and workers of Dask as processes of their own, on the loopback interface."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from waiting import wait_until

_DASK = Path(sys.executable).with_name("dask")
_ALONE = ("--no-dashboard",)


@dataclass
class DaskProcesses:
    """Keeps logs and files in ``folder``; all that is started there ends with the block of ``start_scheduler``."""

    folder: Path
    security: Sequence[str] = ()
    protocol: str = "tcp"
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def start_scheduler(self, port: int = 0) -> "subprocess.Popen[bytes]":
        self.file.unlink(missing_ok=True)
        words = ("--host", f"{self.protocol}://127.0.0.1:{port}", "--scheduler-file", str(self.file))
        process = self._start("scheduler", *words)
        wait_until(lambda: process.poll() is not None or (self.file.exists() and self.file.read_text()))
        assert process.poll() is None, (self.folder / "scheduler.log").read_text()
        return process

    def start_worker(
        self, name: str, *words: str, prefix: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """With a cache of its own, empty at first."""
        own = {"RUNOFF_CACHE": str(self.folder / f"cache-{name}"), **(environment or {})}
        place = ("--local-directory", str(self.folder / f"worker-{name}"), "--memory-limit", "0", "--host", "127.0.0.1")
        usual = ("--scheduler-file", str(self.file), "--nthreads", "1", "--name", name, "--death-timeout", "60")
        return self._start("worker", *usual, *place, *words, prefix=prefix, environment=own)

    def _start(
        self, kind: str, *words: str, prefix: Sequence[str] = (), environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        log = (self.folder / f"{kind}.log").open("ab")
        process = subprocess.Popen(
            [*prefix, str(_DASK), kind, *_ALONE, *self.security, *words],
            env={**os.environ, **(environment or {})},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.processes.append(process)
        return process


def hide(place: Path, room: str = "50%") -> tuple[str, ...]:
    """The beginning of a command that finds nothing in ``place``, but ``room`` of memory; needs root."""
    script = f'mount -t tmpfs -o size={room} hidden "$0" && exec "$@"'
    return ("unshare", "--mount", "sh", "-c", script, str(place))


def rename(folder: Path, name: str) -> tuple[str, ...]:
    """The beginning of a command that runs as on another machine of this hostname; needs root."""
    own = folder / f"machine-id-{name}"
    own.write_text(hashlib.md5(name.encode()).hexdigest() + "\n")
    script = 'mount --bind "$0" /etc/machine-id && hostname "$1" && shift && exec "$@"'
    return ("unshare", "--mount", "--uts", "sh", "-c", script, str(own), name)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """End it and its children at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def start(
    folder: Path, *, security: Sequence[str] = (), protocol: str = "tcp", port: int = 0
) -> Iterator[DaskProcesses]:
    """Start a scheduler; afterwards it and all its workers are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    found = DaskProcesses(folder, security, protocol)
    try:
        found.start_scheduler(port)
        yield found
    finally:
        for process in found.processes:
            if process.poll() is None:
                kill(process)
