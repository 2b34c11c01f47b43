"""What tests of arms with ``+io=`` share: disks of this machine, a workload that looks at them, campaigns without a
command."""

import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from modules import insert
from waiting import LIMIT_S, wait_until

from runoff.engines.host import HostEngine
from runoff.engines.outcome import Outcome, VoidSample
from runoff.engines.questions import AGENT_CATALOGUE
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings

BORROWED = Path("/run/runoff-borrowed")
SIZE_MB = 64
SET = {"nr_requests": "200", "iosched/low_latency": "0", "iosched/slice_idle_us": "4000"}
"""Settings that the owner has chosen for the disk, besides bfq."""

SEEN = """
title = "what is in charge"
description = "Writes, and tells what its disk's queue says."
command = ["sh", "-c", '''
queue=$(echo /sys/block/{disk}/queue)
echo "$(cat $queue/scheduler) $(cd $queue/iosched && grep . * | tr '\\n' ' ') $PWD" >> {seen}
dd if=/dev/zero of=data bs=64k count=32 conv=fsync 2> /dev/null
{then}
''']
timeout_s = 600
elapsed_headline = true
"""


def call(*words: str | Path) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def settings(disk: str) -> dict[str, str]:
    """Everything that can be set of its queue, and the elevators that there are."""
    queue = Path("/sys/block", disk, "queue")
    files = [file for file in queue.rglob("*") if file.is_file() and file.stat().st_mode & 0o200]
    readable = {}
    for file in files:
        try:
            readable[str(file.relative_to(queue))] = file.read_text().strip()
        except OSError:
            continue
    return readable


@contextmanager
def disk_of(size_mb: int, beginning: bytes = b"") -> Iterator[str]:
    """A disk of this machine with bfq in charge. No fixture, as those also run where the guest is only watched."""
    insert("loop", "mq-deadline", "bfq")
    # In /tmp it is on a file system in memory: the guest's own is that of the machine around it.
    with NamedTemporaryFile(dir="/tmp") as image:
        image.write(beginning)
        image.truncate(size_mb << 20)
        device = call("losetup", "--find", "--show", "--partscan", image.name).strip()
        disk = device.removeprefix("/dev/")
        try:
            Path("/sys/block", disk, "queue/scheduler").write_text("bfq")
            yield disk
        finally:
            subprocess.run(["losetup", "--detach", device], capture_output=True, check=False)


@contextmanager
def disk_with_bfq(folder: Path) -> Iterator[tuple[str, Path]]:
    """A disk with a file system in a partition, as its owner has set it, and where it is mounted."""
    place = folder / "mounted"
    place.mkdir()
    partition = struct.pack("<4B4BII", 0, 0, 0, 0, 0x83, 0, 0, 0, 2048, (SIZE_MB - 1) * 2048)
    with disk_of(SIZE_MB, bytes(446) + partition + bytes(48) + b"\x55\xaa") as disk:
        for name, value in SET.items():
            Path("/sys/block", disk, "queue", name).write_text(value)
        try:
            call("mkfs.ext4", "-q", f"/dev/{disk}p1")
            call("mount", f"/dev/{disk}p1", place)
            yield disk, place
        finally:
            subprocess.run(["umount", "-l", place], capture_output=True, check=False)


def workload(folder: Path, disk: str, then: str = "") -> Path:
    """``disk`` as /sys/block names it, or a pattern, because the number of a disk that is made for a sample is not
    known."""
    path = folder / "seen.toml"
    path.write_text(SEEN.format(disk=disk, seen=folder / "seen", then=then))
    return path


def seen(folder: Path) -> list[str]:
    file = folder / "seen"
    return file.read_text().splitlines() if file.exists() else []


def plan(*arms: str, work: Path, **values: object) -> Plan:
    settings = {"arms": arms, "workloads": [str(work)], "blocks": 1, "on": "host", **values}
    return make_plan(parse_settings(settings, "test"), AGENT_CATALOGUE)


@contextmanager
def engine(folder: Path, made: Plan) -> Iterator[HostEngine]:
    """Without the time that the command itself takes."""
    started = HostEngine(made, folder)
    try:
        started.prepare(print)
        yield started
    finally:
        started.close()


class Sample(threading.Thread):
    """The first of a plan, taken beside this thread."""

    def __init__(self, on: HostEngine, made: Plan) -> None:
        super().__init__(daemon=True)
        self._on, self._cell = on, made.cells[0]
        self.outcome: Outcome | None = None
        self.start()

    def run(self) -> None:
        self.outcome = self._on.take(self._cell, lambda _phase: None)

    def reason(self) -> str:
        """Why it is void."""
        self.join(120)
        assert isinstance(self.outcome, VoidSample), self.outcome
        return self.outcome.reason


def begun(folder: Path, on: HostEngine, made: Plan) -> Sample:
    """In the middle of its work."""
    (folder / "seen").unlink(missing_ok=True)
    sample = Sample(on, made)
    wait_until(lambda: bool(seen(folder)))
    return sample
