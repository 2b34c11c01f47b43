"""A scheduler and workers of Dask as processes of their own, on the loopback interface."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from waiting import wait_until

_DASK = Path(sys.executable).with_name("dask")
_ALONE = ("--no-dashboard",)


@dataclass
class DaskProcesses:
    """Keeps logs and files in ``folder``; all that is started there ends with the block of ``start_scheduler``."""

    folder: Path
    security: Sequence[str] = ()
    protocol: str = "tls"
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
    script = f'mount -t tmpfs -o size={room},mode=755 hidden "$0" && exec "$@"'
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


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that trusts itself, and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    words = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    subprocess.run(["openssl", *words, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def name_certificate(certificate: Path, key: Path) -> tuple[str, ...]:
    return ("--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key))


@contextmanager
def trust(certificate: Path, key: Path) -> Iterator[None]:
    """Configures Dask's client, by its own variables."""
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    own = {"CA_FILE": certificate, "CLIENT__CERT": certificate, "CLIENT__KEY": key}
    with pytest.MonkeyPatch.context() as patch:
        for name, path in own.items():
            patch.setenv(tls + name, str(path))
        yield


@contextmanager
def start(folder: Path, *, port: int = 0, is_trusted: bool = True) -> Iterator[DaskProcesses]:
    """Start a scheduler with a certificate of its own, which clients of this process trust if ``is_trusted``.

    Afterwards it and all its workers are gone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = make_certificate(folder, "ours")
    found = DaskProcesses(folder, name_certificate(*made))
    try:
        with trust(*made) if is_trusted else nullcontext():
            found.start_scheduler(port)
            yield found
    finally:
        for process in found.processes:
            if process.poll() is None:
                kill(process)
