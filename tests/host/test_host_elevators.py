"""Arms with ``+io=`` on a running machine's own disks: they get their elevators back."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from campaign_rows import remains
from command import run, start
from disk_fixtures import BORROWED, SET, Sample, begun, disk_with_bfq, engine, plan, seen, settings, workload
from processes import children
from waiting import LIMIT_S, wait_until

from runoff.engines import disks
from runoff.engines.agent import find_agent, make_sample_request, sweep
from runoff.engines.host import HostEngine
from runoff.engines.outcome import RefusedArm, ValidSample
from runoff.errors import RunoffError, UsageError
from runoff.plan.elevators import Elevator

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]


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


def test_the_disk_is_as_it_was_however_the_sample_ends(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        work = workload(tmp_path, disk, then="sleep 500")
        made = plan("default+io=mq-deadline", work=work, place=str(place))
        with engine(tmp_path, made) as own:
            sample = begun(tmp_path, own, made)
            assert "[mq-deadline]" in settings(disk)["scheduler"]
            (agent,) = children(os.getpid())
            # What a living campaign has is its own.
            assert sweep() == ""
            with engine(tmp_path, made) as other:
                answer = other.check(made.arms[0])
            assert isinstance(answer, RefusedArm)
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


def test_restore_gives_a_disk_back_that_no_other_agent_can(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        work = workload(tmp_path, disk, then="sleep 500")
        campaign = start(*compare(tmp_path, "default+io=mq-deadline", place=place, work=work))
        wait_until(lambda: bool(seen(tmp_path)))
        (agent,) = children(campaign.pid)
        campaign.kill()
        os.kill(agent, signal.SIGKILL)
        campaign.communicate(timeout=LIMIT_S)
        wait_until(lambda: not Path(f"/proc/{agent}").exists())
        assert "[mq-deadline]" in settings(disk)["scheduler"]
        told = run("restore").stdout.splitlines()
        assert f"put back the elevator of {disk}" in told
        assert any(line.startswith(f"removed {place}/runoff-{agent}.") and "-work-" in line for line in told)
        assert settings(disk) == before
        assert list(BORROWED.iterdir()) == []
        assert remains() == []
        assert [path.name for path in place.iterdir()] == ["lost+found"]


def kill_in_the_middle(folder: Path, disk: str, place: Path) -> int:
    """An agent whose sample had mq-deadline in charge; its number."""
    folder.mkdir()
    work = plan("default", work=workload(folder, disk, then="sleep 500")).works[0]
    below = disks.describe_borrowed_disk(Elevator("mq-deadline"))
    request = make_sample_request("killed", {"kind": "default"}, work, scratch=str(place), disk=below)
    agent = subprocess.Popen([find_agent(), "session"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert agent.stdin is not None
    agent.stdin.write(json.dumps(request).encode() + b"\n")
    agent.stdin.flush()
    wait_until(lambda: bool(seen(folder)))
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
            assert isinstance(own.take(later.cells[0], lambda _phase: None), ValidSample)
            assert settings(disk) == before
        # Also the work of the agent that was killed.
        assert remains() == []
        assert [path.name for path in place.iterdir()] == ["lost+found"]
        assert list(BORROWED.iterdir()) == []


def test_what_cannot_be_put_back_is_said_until_it_can(tmp_path: Path) -> None:
    with disk_with_bfq(tmp_path) as (disk, place):
        before = settings(disk)
        (record,) = BORROWED.glob(f"runoff-{kill_in_the_middle(tmp_path / 'killed', disk, place)}.*-loan-*.json")
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
        said: list[str] = []
        other.prepare(said.append)
        assert isinstance(other.take(made.cells[0], lambda _phase: None), ValidSample)
        assert sentence in other.warnings()
        other.close()
        assert any(sentence in each for each in said)
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
            assert isinstance(answer, RefusedArm)
            reasons.append((answer.reason, answer.exit_code))
        assert reasons == [
            ("the kernel did not take slice_idle_us = 0 of its elevator bfq: it is 8000", 1),
            ("cannot work in /proc: what the system consists of is there: name another directory", 64),
        ]
        nowhere = plan("default+io=bfq", work=work, place=f"{place}/no")
        with pytest.raises(UsageError, match="/no: No such file or directory"), engine(tmp_path, nowhere):
            pass
        (place / "anybodys").mkdir(mode=0o777)
        (place / "anybodys").chmod(0o777)
        shared = plan("default+io=bfq", work=work, place=f"{place}/anybodys")
        with pytest.raises(UsageError, match="can be written by others"), engine(tmp_path, shared):
            pass
        assert settings(disk) == before
        assert seen(tmp_path) == []
