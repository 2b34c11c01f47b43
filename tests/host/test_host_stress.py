"""The stress itself, on this machine's own scheduler: it counts what it did, and leaves no processes behind."""

import json
import os
import signal
import subprocess
import time

import pytest
from processes import children, is_running
from waiting import LIMIT_S, wait_until

from runoff.engines.agent import find_agent

pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(os.geteuid() != 0, reason="the stress needs root: run the tests with sudo"),
]

WORKERS_A_CPU = 6


def start(seconds: float) -> "subprocess.Popen[str]":
    command = [find_agent(), "stress", f"--seconds={seconds}", "--seed=7"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def descendants(pid: int) -> set[int]:
    found = children(pid)
    return {*found, *(each for child in found for each in descendants(child))}


def busy(process: "subprocess.Popen[str]") -> set[int]:
    """All it has started, once it is in full swing."""
    least = WORKERS_A_CPU * len(os.sched_getaffinity(0))
    wait_until(lambda: len(children(process.pid)) >= least)
    time.sleep(0.3)
    return descendants(process.pid)


def test_it_ends_in_time_and_prints_its_counts() -> None:
    process = start(1.5)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    report = json.loads(out)
    assert report["elapsed_s"] >= 1.5
    assert report["workers"] == WORKERS_A_CPU * len(os.sched_getaffinity(0))
    assert report["lost"] == report["unfinished"] == report["hotplugs"] == 0
    for key in ("forks", "affinity_changes", "nice_changes", "policy_changes", "stops", "yields", "naps", "messages"):
        assert report[key] > 0, key
    assert 0 < report["longest_wait_ms"] < 60_000
    assert ", nice " in report["longest_wait_of"]


def test_a_signal_ends_it_and_all_it_started() -> None:
    process = start(60)
    started = busy(process)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "stopped by a signal" in err
    assert json.loads(out)["lost"] == 0
    assert not [pid for pid in started if is_running(pid)]


def test_killing_it_kills_all_that_it_started() -> None:
    process = start(60)
    started = busy(process)
    process.kill()
    process.communicate(timeout=LIMIT_S)
    wait_until(lambda: not any(is_running(pid) for pid in started))


def test_a_worker_that_vanishes_is_a_failure() -> None:
    process = start(2)
    busy(process)
    os.kill(min(children(process.pid)), signal.SIGKILL)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "1 of its children ended otherwise than they should" in err
    assert json.loads(out)["lost"] == 1
