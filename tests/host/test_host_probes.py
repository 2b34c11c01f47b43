"""Probes on this machine's own kernel, and what happens where it does not take them."""

import json
import os
from pathlib import Path

import pytest
from campaign_rows import remains, rows
from command import run

from runoff.engines.agent import find_agent
from runoff.engines.questions import describe_metrics
from runoff.results import PROBE_COST

pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
    pytest.mark.skipif(not Path("/sys/kernel/btf/vmlinux").exists(), reason="this kernel has no BTF"),
]

PLAN = ("compare", "default", "--on", "host", "--work", "counters:n=2,count=3000000,passes=2", "--blocks", "1")


def test_all_probes_observe_the_kernels_own_scheduler(tmp_path: Path) -> None:
    document = json.loads(run(*PLAN, "--probe", "all", "--out", tmp_path / "out", "--json").stdout)
    (sample,) = document["samples"]
    seen = sample["metrics"]
    # There is neither a sched_ext scheduler nor a disk behind an elevator.
    here = [probe for probe in describe_metrics().probes if probe.name not in ("scheduler", "requests")]
    known = {metric.name for probe in here for metric in probe.metrics}
    assert known | {PROBE_COST} <= seen.keys()
    # Two passes of two processes, which their parent waits for.
    assert seen["turns"] > seen["preemptions"] >= 0
    assert seen["wakeups"] >= 4
    assert 0 <= seen["idle_while_waiting_s"] < seen["elapsed_s"]
    assert not any(name.startswith("scheduler_") for name in seen)
    assert remains() == []


def test_a_kernel_that_takes_no_probe_voids_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\nexec setpriv --bounding-set -sys_admin,-bpf,-perfmon {find_agent()} "$@"\n')
    agent.chmod(0o755)
    monkeypatch.setenv("RUNOFF_AGENT", str(agent))
    run(*PLAN, "--probe", "turns", "--out", tmp_path / "out", expect=2)
    (row,) = rows(tmp_path / "out")
    assert row["reason"].startswith("the kernel does not count how long BPF programs run: Operation not permitted")
    run(*PLAN, "--out", tmp_path / "without")
    (row,) = rows(tmp_path / "without")
    assert row["valid"]
    assert remains() == []
