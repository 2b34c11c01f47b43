"""Leftovers that may be overlooked: one of each kind, as a dead agent would have made it."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from soak import traces

NAME = "runoff-1.7-work-0"
"""Process 1 was not started at tick 7."""
KINDS = ("process", "cgroup", "scratch", "mount", "record", "precious", "place", "elevator", "setting")


@contextmanager
def planted(kind: str, folder: Path, machine: traces.Machine) -> Iterator[str]:
    """Plants a leftover of this kind; yields the text that reports it."""
    disk = machine.disk
    if kind == "process":
        with sleeping([], {traces.WORK: str(folder)}) as pid:
            yield f"process {pid} (sleep 600)"
    elif kind == "mount":
        inside = folder / NAME
        inside.mkdir()
        # Only one process sees this mount, and nothing marks that process as the soak's.
        command = f'mount --bind {inside} {inside} && exec "$@"'
        with sleeping(["unshare", "--mount", "sh", "-c", command, "sh"], {}):
            yield f"on {inside} in mnt:"
    elif kind == "cgroup":
        with directory(traces.hierarchy() / NAME) as path:
            yield f"control group {path}"
    elif kind in ("scratch", "place"):
        with directory((disk.place if disk and kind == "place" else Path("/tmp")) / NAME) as path:
            yield str(path)
    elif kind == "record":
        traces.BORROWED[0].mkdir(mode=0o700, exist_ok=True)
        with file(traces.BORROWED[0] / "part-7", "") as path:
            yield str(path)
    elif kind == "setting":
        with file(traces.setting_file("sysctl.vm.stat_interval"), "3") as path:
            yield f"{path} is '3'"
    elif kind == "elevator":
        assert disk is not None
        with file(traces.BLOCKS / disk.name / "queue/nr_requests", "100") as path:
            yield f"{path} is '100'"
    else:
        with file(folder / "precious/one/file", "gone") as path:
            yield f"{path} is "


@contextmanager
def sleeping(before: list[str], environment: dict[str, str]) -> Iterator[int]:
    """Once it is ``sleep``, whatever it was before."""
    process = subprocess.Popen([*before, "sleep", "600"], env={**os.environ, **environment})
    try:
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            assert process.poll() is None
            time.sleep(0.01)
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextmanager
def directory(path: Path) -> Iterator[Path]:
    path.mkdir()
    try:
        yield path
    finally:
        path.rmdir()


@contextmanager
def file(path: Path, text: str) -> Iterator[Path]:
    """A file with this text."""
    before = path.read_text() if path.exists() else None
    path.write_text(text)
    try:
        yield path
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_text(before)
