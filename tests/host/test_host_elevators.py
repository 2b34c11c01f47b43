"""Arms with ``+io=`` on a running machine: its own disks get their elevators back, disks that are made go again."""

import json
import os
import signal
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from campaign_rows import remains
from command import run, start
from in_charge import agents_of, wait_until
from modules import insert

from runoff.campaign.run import order
from runoff.elevators import Elevator
from runoff.engines import disks, ublk
from runoff.engines.agent import (
    check_request,
    describe_elevators,
    describe_schedulers,
    find_agent,
    sample_request,
    sweep,
)
from runoff.engines.host import HostEngine
from runoff.engines.outcome import Outcome, Refused, Taken, Voided
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.plan import Plan, make_plan, parse_settings

pytestmark = [pytest.mark.host, pytest.mark.slow, pytest.mark.sched_ext]

BORROWED = Path("/run/runoff-borrowed")
SIZE_MB = 64
SET = {"nr_requests": "200", "iosched/low_latency": "0", "iosched/slice_idle_us": "4000"}
"""What somebody has chosen for the disk, beside bfq."""

SEEN = """
title = "what is in charge"
description = "Writes, and tells what its disk's queue says."
command = ["sh", "-c", '''
queue=/sys/block/{disk}/queue
echo "$(cat $queue/scheduler) $(cd $queue/iosched && grep . * | tr '\\n' ' ') $PWD" >> {seen}
dd if=/dev/zero of=data bs=64k count=32 conv=fsync 2> /dev/null
{then}
''']
timeout_s = 600
elapsed_headline = true
"""


def call(*words: str | Path) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120)
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
    path = folder / "seen.toml"
    path.write_text(SEEN.format(disk=disk, seen=folder / "seen", then=then))
    return path


def seen(folder: Path) -> list[str]:
    file = folder / "seen"
    return file.read_text().splitlines() if file.exists() else []


def compare(folder: Path, *arms: str, place: Path, work: Path) -> tuple[str | Path, ...]:
    """The words of a campaign."""
    placed = ("--on", "host", "--place", place, "--work", work)
    return ("compare", *arms, *placed, "--blocks", "1", "--out", folder / "out", "--json")


def test_a_disks_elevator_is_switched_for_each_sample_and_put_back(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        assert "[bfq]" in before["scheduler"]
        assert before.items() >= SET.items()
        tuned = "default+io=mq-deadline:fifo_batch=4,read_expire_ms=100"
        arms = ("default", tuned, "default+io=bfq", "default+io=none")
        work = workload(tmp_path, disk)
        document = json.loads(run(*compare(tmp_path, *arms, place=place, work=work)).stdout)

        assert settings(disk) == before
        assert list(BORROWED.iterdir()) == []
        assert remains() == []
        assert [path.name for path in place.iterdir()] == ["lost+found"]

        told = dict(zip([sample["arm"] for sample in document["samples"]], seen(tmp_path), strict=True))
        assert all(f" {place}/runoff-" in line for line in told.values())
        assert "[bfq]" in told["default"]
        assert "low_latency:0 " in told["default"]
        assert "[mq-deadline]" in told[tuned]
        assert "fifo_batch:4 " in told[tuned]
        assert "read_expire:100 " in told[tuned]
        # The kernel's defaults, not what the owner has set of the same elevator.
        assert "[bfq]" in told["default+io=bfq"]
        assert "low_latency:1 " in told["default+io=bfq"]
        assert "[none]" in told["default+io=none"]
        for sample in document["samples"]:
            assert sample["valid"], sample["reason"]
            assert 2048 <= sample["metrics"]["disk_written_kb"] < 8192
            latencies = [sample["metrics"][f"disk_write_{name}_ms"] for name in ("p50", "p95", "p99", "max")]
            assert 0 < latencies[0] <= latencies[1] <= latencies[2] <= latencies[3]
            # The kernel's mean, of whole ms in all, is of the same times.
            assert 0 < sample["metrics"]["disk_write_mean_ms"] <= latencies[3]
            assert sample["metrics"]["disk_served"] <= sample["metrics"]["disk_requests"]
        facts = document["fingerprint"]["arms"]
        assert [facts[arm]["elevator"].split()[0] for arm in arms] == ["bfq", "mq-deadline", "bfq", "none"]
        assert facts["default"]["elevator"] == f"bfq on {disk}"
        assert facts["default"]["disk"].startswith(f"{disk}: ")


def plan(*arms: str, work: Path, **values: object) -> Plan:
    settings = {"arms": arms, "workloads": [str(work)], "blocks": 1, "on": "host", **values}
    return make_plan(parse_settings(settings, "test"), describe_schedulers, describe_elevators)


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
        self._on, self._cell = on, order(made)[0]
        self.outcome: Outcome | None = None
        self.start()

    def run(self) -> None:
        self.outcome = self._on.take(self._cell, lambda _phase: None)

    def reason(self) -> str:
        """Why it is void."""
        self.join(120)
        assert isinstance(self.outcome, Voided), self.outcome
        return self.outcome.reason


def begun(folder: Path, on: HostEngine, made: Plan) -> Sample:
    """In the middle of its work."""
    (folder / "seen").unlink(missing_ok=True)
    sample = Sample(on, made)
    wait_until(lambda: bool(seen(folder)), 200)
    return sample


def test_whoever_ends_it_the_disk_is_as_it_was(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        work = workload(tmp_path, disk, then="sleep 500")
        made = plan("default+io=mq-deadline", work=work, place=str(place))
        with engine(tmp_path, made) as own:
            sample = begun(tmp_path, own, made)
            assert "[mq-deadline]" in settings(disk)["scheduler"]
            (agent,) = agents_of(os.getpid())
            # What a living campaign has is its own.
            assert sweep() == ""
            with engine(tmp_path, made) as other:
                answer = other.check(made.arms[0])
            assert isinstance(answer, Refused)
            assert f"another runoff, process {agent}, has borrowed {disk}" in answer.reason
            assert "[mq-deadline]" in settings(disk)["scheduler"]

            os.kill(agent, signal.SIGKILL)
            assert "the agent was lost" in sample.reason()
            assert settings(disk) == before
            assert list(BORROWED.iterdir()) == []
            assert remains() == []

            sample = begun(tmp_path, own, made)
            assert "[mq-deadline]" in settings(disk)["scheduler"]
            own.abandon()
            assert "stopped on request" in sample.reason()
            assert settings(disk) == before
            assert [path.name for path in place.iterdir()] == ["lost+found"]


def test_restore_gives_a_disk_back_that_nobody_else_can(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        work = workload(tmp_path, disk, then="sleep 500")
        campaign = start(*compare(tmp_path, "default+io=mq-deadline", place=place, work=work))
        wait_until(lambda: bool(seen(tmp_path)), 200)
        (agent,) = agents_of(campaign.pid)
        campaign.kill()
        os.kill(agent, signal.SIGKILL)
        campaign.communicate(timeout=60)
        wait_until(lambda: not Path(f"/proc/{agent}").exists())
        assert "[mq-deadline]" in settings(disk)["scheduler"]
        told = run("restore").stdout.splitlines()
        assert f"put back the elevator of {disk}" in told
        assert f"removed {place}/runoff-{agent}-work" in told
        assert settings(disk) == before
        assert list(BORROWED.iterdir()) == []
        assert remains() == []
        assert [path.name for path in place.iterdir()] == ["lost+found"]


def kill_in_the_middle(folder: Path, disk: str, place: Path) -> int:
    """An agent whose sample had mq-deadline in charge; its number."""
    folder.mkdir()
    work = plan("default", work=workload(folder, disk, then="sleep 500")).works[0]
    below = disks.borrowed(Elevator("mq-deadline"))
    request = sample_request("killed", {"kind": "default"}, work, scratch=str(place), disk=below)
    agent = subprocess.Popen([find_agent(), "session"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert agent.stdin is not None
    agent.stdin.write(json.dumps(request).encode() + b"\n")
    agent.stdin.flush()
    wait_until(lambda: bool(seen(folder)), 200)
    agent.kill()
    agent.wait()
    assert "[mq-deadline]" in settings(disk)["scheduler"]
    return agent.pid


def test_what_a_killed_campaign_has_changed_is_not_taken_for_the_owners_wish(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        later = plan("default+io=none", work=workload(tmp_path, disk), place=str(place))
        # Its agent has looked for what others have left before there was anything.
        with engine(tmp_path, later) as own:
            kill_in_the_middle(tmp_path / "killed", disk, place)
            assert isinstance(own.take(order(later)[0], lambda _phase: None), Taken)
            assert settings(disk) == before
        # Also the work of the agent that was killed.
        assert remains() == []
        assert [path.name for path in place.iterdir()] == ["lost+found"]
        assert list(BORROWED.iterdir()) == []


def test_what_cannot_be_put_back_is_said_until_it_can(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        record = BORROWED / f"{kill_in_the_middle(tmp_path / 'killed', disk, place)}.json"
        true = record.read_text()
        never = true.replace('"nr_requests":"200"', '"nr_requests":"99999999"')
        assert never != true
        record.write_text(never)
        sentence = f"{disk} could not be put back as it was: write into /sys/block/{disk}/queue: nr_requests 99999999"
        with pytest.raises(RunoffError, match=sentence):
            sweep()
        # All else is, and it is tried again each time.
        for name, value in settings(disk).items():
            assert value == before[name] or name == "nr_requests"
        # Who does not want that disk has nothing to do with it, until the end.
        made = plan("default", work=workload(tmp_path, disk))
        other = HostEngine(made, tmp_path)
        other.prepare(print)
        assert isinstance(other.take(order(made)[0], lambda _phase: None), Taken)
        assert sentence in other.warnings()
        with pytest.raises(RunoffError, match=sentence):
            other.close()
        record.write_text(true)
        assert sweep() == f"put back the elevator of {disk}"
        assert list(BORROWED.iterdir()) == []
        assert settings(disk) == before


def test_a_sample_whose_elevator_was_changed_is_void(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        work = workload(tmp_path, disk, then="echo 9 > $queue/iosched/fifo_batch")
        made = plan("default+io=mq-deadline", work=work, place=str(place))
        with engine(tmp_path, made) as own:
            told = Sample(own, made).reason()
        assert told == f"fifo_batch of the elevator mq-deadline of {disk} was changed from 16 to 9 while the sample ran"
        assert settings(disk) == before


def test_what_cannot_be_switched_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        work = workload(tmp_path, disk)
        reasons = []
        for elevator, where in (("bfq:slice_idle_us=0,strict_guarantees=1", place), ("bfq", Path("/proc"))):
            made = plan(f"default+io={elevator}", work=work, place=str(where))
            with engine(tmp_path, made) as own:
                answer = own.check(made.arms[0])
            assert isinstance(answer, Refused)
            reasons.append((answer.reason, answer.exit_code))
        assert reasons == [
            ("the kernel did not take slice_idle_us = 0 of its elevator bfq: it is 8000", 1),
            ("/proc is on no disk but on proc: name a directory on a disk", 64),
        ]
        nowhere = plan("default+io=bfq", work=work, place=f"{place}/no")
        with pytest.raises(UsageError, match="/no: No such file or directory"), engine(tmp_path, nowhere):
            pass
        (place / "anybodys").mkdir(mode=0o777)
        (place / "anybodys").chmod(0o777)
        shared = plan("default+io=bfq", work=work, place=f"{place}/anybodys")
        with pytest.raises(UsageError, match="is not root's alone"), engine(tmp_path, shared):
            pass
        assert settings(disk) == before
        assert seen(tmp_path) == []


def elevators_below(place: Path) -> dict[str, str]:
    """Of the disks of ``place``, as the agent finds them."""
    request = check_request({"kind": "default"}, scratch=str(place), disk=disks.borrowed(None))
    agent = subprocess.run([find_agent(), "session"], input=json.dumps(request), capture_output=True, text=True)
    event: dict[str, Any] = json.loads(agent.stdout.splitlines()[1])
    assert event["type"] == "checked", event
    return {disk["name"]: disk["elevator"] for disk in event["disks"]}


def test_volumes_and_partitions_lead_to_their_disks(tmp_path: Path) -> None:
    insert("dm_mod")
    with disk_with_bfq(tmp_path) as (disk, place):
        inside = place / "a" / "b"
        inside.mkdir(parents=True)
        assert elevators_below(inside) == {disk: "bfq"}
        call("umount", place)
        call("dmsetup", "--noudevsync", "create", "volume", "--table", f"0 100000 linear /dev/{disk}p1 0")
        try:
            (volume,) = Path("/sys/block").glob("dm-*")
            call("mkfs.ext4", "-q", f"/dev/{volume.name}")
            call("mount", f"/dev/{volume.name}", place)
            assert elevators_below(place) == {disk: "bfq"}
            call("umount", place)
        finally:
            call("dmsetup", "--noudevsync", "remove", "volume")


def test_a_file_system_or_volume_on_two_disks_leads_to_both(tmp_path: Path) -> None:
    insert("dm_mod", "btrfs")
    place = tmp_path / "mounted"
    place.mkdir()
    with disk_of(256) as one, disk_of(256) as two:
        devices = (f"/dev/{one}", f"/dev/{two}")
        both = {one: "bfq", two: "bfq"}
        before = [settings(disk) for disk in both]
        call("mkfs.btrfs", "--quiet", "--data", "raid0", *devices)
        call("btrfs", "device", "scan", *devices)
        call("mount", devices[1], place)
        try:
            call("btrfs", "subvolume", "create", place / "sub")
            assert elevators_below(place / "sub") == both
            work = workload(tmp_path, one, then=f"cat /sys/block/{two}/queue/scheduler >> {tmp_path / 'seen'}")
            made = plan("default+io=mq-deadline", work=work, place=str(place / "sub"))
            with engine(tmp_path, made) as own:
                assert isinstance(own.take(order(made)[0], lambda _phase: None), Taken)
            assert all("[mq-deadline]" in line for line in seen(tmp_path))
            assert len(seen(tmp_path)) == 2
        finally:
            call("umount", place)
        assert [settings(disk) for disk in both] == before

        table = f"0 400000 striped 2 8 {devices[0]} 0 {devices[1]} 0"
        call("dmsetup", "--noudevsync", "create", "striped", "--table", table)
        try:
            (volume,) = Path("/sys/block").glob("dm-*")
            call("mkfs.ext4", "-q", f"/dev/{volume.name}")
            call("mount", f"/dev/{volume.name}", place)
            assert elevators_below(place) == both
            call("umount", place)
        finally:
            call("dmsetup", "--noudevsync", "remove", "striped")


def test_a_disk_is_made_for_each_sample_and_goes_again(tmp_path: Path) -> None:
    insert("ublk_drv", "bfq")
    arms = ("default+io=anticipatory:antic_expire_ms=8", "default+io=bfq:slice_idle_us=0", "default")
    made = plan(*arms, work=workload(tmp_path, "ublkb0"), disk_mb=64, disk_model="scsi10k")
    with engine(tmp_path, made) as own:
        for cell in order(made):
            arm = arms[cell.arm]
            if arm == "default":
                # It has its usual place.
                assert isinstance(own.take(cell, lambda _phase: None), Taken)
                assert " /tmp/runoff-" in seen(tmp_path)[-1]
                continue
            outcome = own.take(cell, lambda _phase: None)
            assert isinstance(outcome, Taken), outcome
            line = seen(tmp_path)[-1]
            assert ("[bfq]" in line) == ("bfq" in arm)
            assert ("slice_idle_us:0 " in line) == ("bfq" in arm)
            assert 2048 <= outcome.metrics["disk_written_kb"] < 8192
            assert outcome.metrics["disk_write_p99_ms"] > 1
            assert ublk.disks() == []
            assert list(Path("/run").glob("runoff-[0-9]*")) == []

    made = plan(arms[0], work=workload(tmp_path, "ublkb0", then="sleep 500"), disk_mb=64)
    with engine(tmp_path, made) as own:
        sample = begun(tmp_path, own, made)
        # Nobody else on the machine sees what is mounted for the sample.
        assert "/run/runoff" not in Path("/proc/self/mounts").read_text()
        assert [disk["users"]["mounted_on"] != [] for disk in ublk.disks()] == [True]
        os.kill(agents_of(os.getpid())[0], signal.SIGKILL)
        assert "the agent was lost" in sample.reason()
        assert ublk.disks() == []
        assert list(Path("/run").glob("runoff-[0-9]*")) == []
        assert remains() == []
    assert not (tmp_path / "disk.blocks").exists()


def test_a_disk_larger_than_the_memory_is_refused(tmp_path: Path) -> None:
    insert("ublk_drv")
    made = plan("default+io=noop", work=workload(tmp_path, "ublkb0"), disk_mb=30_000)
    with pytest.raises(MissingError, match="has its 30000 MiB in memory"), engine(tmp_path, made):
        pass
