"""Traces on this machine of dead agents, and of the soak's own processes."""

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from processes import is_running

from soak.disk import Disk

NAME = re.compile(r"runoff-(\d+)\.(\d+)-")
"""How an agent names what it makes: by its process and when that was started (crates/machine/src/owner.rs)."""
PLACES = (Path("/tmp"), Path("/run"))
BORROWED = (Path("/run/runoff-borrowed"), Path("/run/runoff-settings"))
"""Where agents write down what they have to put back."""
SETTINGS = {
    "sysctl.kernel.sched_rr_timeslice_ms": "40",
    "sysctl.kernel.sched_cfs_bandwidth_slice_us": "4000",
    "sysctl.kernel.sched_deadline_period_max_us": "4000000",
    "sysctl.vm.dirty_expire_centisecs": "2999",
    "sysctl.vm.stat_interval": "2",
}
"""Five settings that a campaign changes, with values that this machine does not have."""
BLOCKS = Path("/sys/block")
SCHED_EXT = Path("/sys/kernel/sched_ext")

WORK = "RUNOFF_SOAK_WORK"
NOTEBOOK = "RUNOFF_SOAK"
"""In the environment of all that the work starts, and of all that the notebook starts: the soak's folder."""


@dataclass(frozen=True, order=True)
class Process:
    pid: int
    command: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command})"


def _stat(pid: int) -> list[str]:
    """The fields after the name; none if there is no such process (proc(5))."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _is_left(name: str) -> bool:
    """Whether it is named like what an agent makes that is gone."""
    found = NAME.search(name)
    if found is None:
        return False
    pid, started = map(int, found.groups())
    return not (is_running(pid) and _stat(pid)[19:20] == [str(started)])


def _pids() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def marked(marker: str, folder: Path) -> list[Process]:
    """Processes whose environment has ``marker`` with ``folder``, by number."""
    wanted = f"{marker}={folder}".encode()
    found = []
    for pid in _pids():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if wanted in environment and is_running(pid):
            found.append(Process(pid, words[:80].strip()))
    return sorted(found)


def end(folder: Path) -> None:
    """All that the notebook or the work has started."""
    for process in {each for marker in (WORK, NOTEBOOK) for each in marked(marker, folder)}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def mounts() -> Iterator[str]:
    """Mounts on or of things that dead agents have made, in the mount namespaces of all processes."""
    seen: dict[str, int] = {}
    for pid in _pids():
        try:
            seen.setdefault(str(Path(f"/proc/{pid}/ns/mnt").readlink()), pid)
        except OSError:
            continue
    for namespace, pid in seen.items():
        try:
            lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
        except OSError:
            continue
        for fields in map(str.split, lines):
            if _is_left(fields[3]) or _is_left(fields[4]):
                yield f"mount of {fields[3]} on {fields[4]} in {namespace} of process {pid}"


def hierarchy() -> Path:
    """Where control groups (v2) are."""
    lines = map(str.split, Path("/proc/self/mountinfo").read_text().splitlines())
    return next(Path(fields[4]) for fields in lines if "cgroup2" in fields[fields.index("-") :])


def cgroups() -> Iterator[str]:
    return (f"control group {path}" for path in hierarchy().rglob("runoff-*") if _is_left(path.name))


def files(places: tuple[Path, ...]) -> Iterator[str]:
    for place in places:
        yield from (str(path) for path in place.iterdir() if _is_left(path.name))
    for record in (record for place in BORROWED for record in place.glob("*")):
        if NAME.search(record.name) is None or _is_left(record.name):
            yield str(record)


def _settings(disk: str) -> dict[str, str]:
    """Everything that can be set of a disk's queue."""
    found = {}
    for file in (BLOCKS / disk / "queue").rglob("*"):
        if file.is_file() and file.stat().st_mode & 0o200:
            try:
                found[str(file)] = file.read_text().strip()
            except OSError:
                continue
    return found


def setting_file(name: str) -> Path:
    """The file of one of ``SETTINGS``."""
    return Path("/proc/sys", *name.split(".")[1:])


def _in_charge() -> dict[str, str]:
    files = (SCHED_EXT / "state", SCHED_EXT / "root/ops")
    return {str(file): file.read_text().strip() for file in files if file.exists()}


def _contents(directory: Path) -> dict[str, str]:
    """Modes and bytes of all that is in it."""
    found = {}
    for path in (directory, *directory.rglob("*")):
        found[str(path)] = f"{path.stat().st_mode:o} {path.read_text() if path.is_file() else 'directory'}"
    return found


class Machine:
    """The state before; a disk that others use may change meanwhile, so only the soak's own is checked."""

    def __init__(self, folder: Path, disk: Disk | None) -> None:
        self._folder, self.disk = folder, disk
        self._places = PLACES if disk is None else (*PLACES, disk.place)
        self._before = self._look()

    def _look(self) -> dict[str, str]:
        settings = _settings(self.disk.name) if self.disk is not None else {}
        settings |= {str(file): file.read_text().strip() for file in map(setting_file, SETTINGS)}
        return {**_contents(self._folder / "precious"), **settings, **_in_charge()}

    def running(self) -> list[str]:
        """All that the notebook or the work has started."""
        return [str(each) for marker in (WORK, NOTEBOOK) for each in marked(marker, self._folder)]

    def left(self) -> list[str]:
        """All that must not be there once nothing of the soak runs and ``runoff restore`` has ended."""
        before, now = self._before, self._look()
        changed = [f"{file} is {now.get(file)!r}" for file in {*before, *now} if before.get(file) != now.get(file)]
        return [*self.running(), *cgroups(), *mounts(), *files(self._places), *changed]
