"""The host engine as root on a kernel with sched_ext: proofs, refusals, ejections, and what a kill leaves."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from campaign_rows import remains, rows
from command import run, samples, start
from in_charge import attach, state
from processes import children
from soak import traces
from waiting import LIMIT_S, wait_until

from runoff.engines.agent import find_agent

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]

# More of them than CPUs: a task that finds an idle CPU runs there without the scheduler being asked.
STALLED = """
title = "a task the staller forgets"
description = "d"
command = ["./stallme", "-c", "for n in 1 2 3 4; do (i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done) & done; wait"]
prepare = [["cp", "/bin/sh", "stallme"]]
timeout_s = 60
elapsed_headline = true
"""


def test_every_sample_is_proved(tmp_path):
    document = run(
        "compare", "default", "bfs", "--on", "host", "--work", "counters:n=2,count=300000",
        "--blocks", "2", "--out", tmp_path / "c", "--json",
    ).stdout  # fmt: skip
    assert all(sample["valid"] for sample in samples(document).values())
    taken = rows(tmp_path / "c")
    assert len(taken) == 4
    for row in taken:
        before, after = row["proof"]["before"], row["proof"]["after"]
        assert before == after
        bfs = row["arm"] == "bfs"
        assert before["state"] == ("enabled" if bfs else "disabled")
        assert before["ops"] == ("bfs" if bfs else "")
        assert row["proof"]["threads_outside"] == 0
        assert (row["proof"]["threads_checked"] > 0) == bfs
        assert bool(row["proof"]["object"]) == bfs
    sequence = [row["proof"]["before"]["enable_seq"] for row in taken if row["arm"] == "bfs"]
    assert sequence == sorted(set(sequence)), "each sample has an attachment of its own"
    assert state() == "disabled"


def test_an_object_that_the_verifier_rejects_is_refused_with_the_end_of_its_log(tmp_path, test_objects):
    done = run(
        "compare", "default", test_objects / "rejected.bpf.o", "--on", "host", "--work", "counters:n=1,count=1000",
        "--out", tmp_path / "c", expect=64,
    )  # fmt: skip
    assert "the kernel rejected" in done.stderr
    assert "END PROG LOAD LOG" in done.stderr
    assert state() == "disabled"


def test_an_ejection_voids_the_sample_and_the_next_arm_runs(tmp_path, test_objects):
    work = tmp_path / "stalled.toml"
    work.write_text(STALLED)
    run(
        "compare", "default", test_objects / "staller.bpf.o", "--on", "host", "--work", work,
        "--blocks", "1", "--out", tmp_path / "c", expect=2,
    )  # fmt: skip
    taken = rows(tmp_path / "c")
    assert len(taken) == 2
    for row in taken:
        if row["arm"] == "default":
            assert row["valid"], row["reason"]
        else:
            assert not row["valid"]
            assert "staller was ejected during the run" in row["reason"]
            assert "runnable task stall" in row["reason"]
    assert state() == "disabled"


def test_attach_ends_with_ctrl_c():
    process = attach()
    assert process.stdout is not None
    assert process.stdout.readline().startswith("bfs  ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    assert "bfs is detached" in err
    assert state() == "disabled"


def test_attach_reports_limits_that_no_longer_hold_and_long_turns(test_objects):
    group = traces.hierarchy() / "capped"
    group.mkdir()
    try:
        (group.parent / "cgroup.subtree_control").write_text("+cpu")
        (group / "cpu.max").write_text("20000 100000")
        for words, warns in ((("bfs", "rr_interval_ms=1000"), True), ((test_objects / "choosy.bpf.o",), False)):
            process = start("attach", *words)
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 0, err
            assert ("bfs keeps neither cpu.max nor cpu.weight" in err and "which /capped has set" in err) == warns, err
            assert ("rr_interval_ms=1000 (ms) is a long turn: where more than 15 tasks" in err) == warns, err
    finally:
        group.rmdir()


def test_the_limit_of_a_container_is_part_of_the_fingerprint():
    top = traces.hierarchy()
    group = top / "container"
    group.mkdir()
    try:
        (top / "cgroup.subtree_control").write_text("+cpu")
        (group / "cpu.max").write_text("20000 100000")
        inside = f"umount -l {top} && mount -t cgroup2 none {top} && exec {find_agent()} session"
        script = f"echo $$ > {group}/cgroup.procs; exec unshare --cgroup --mount sh -c '{inside}'"
        done = subprocess.run(
            ["sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S
        )
        hello = json.loads(done.stdout.splitlines()[0])
        assert hello["fingerprint"]["settings"]["cpu_max"] == "20000 100000"
    finally:
        wait_until(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def test_a_killed_agent_takes_its_scheduler_with_it():
    process = attach()
    (agent,) = children(process.pid)
    os.kill(agent, signal.SIGKILL)
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "ended by signal 9" in err
    wait_until(lambda: state() == "disabled")


def test_a_killed_attach_takes_its_scheduler_with_it():
    process = attach()
    process.kill()
    process.communicate(timeout=LIMIT_S)
    wait_until(lambda: state() == "disabled")


def test_a_scheduler_that_is_attached_already_is_named(tmp_path):
    first = attach()
    second = run("attach", "bfs", expect=1)
    quick = ("--on", "host", "--work", "counters:n=1,count=1000", "--out", tmp_path / "c")
    third = run("compare", "bfs", *quick, expect=69)
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=LIMIT_S)
    for done in (second, third):
        assert '"bfs" is attached already' in done.stderr
    assert state() == "disabled"


def wrapper(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_wrapper_that_leaves_its_scheduler_in_the_background_is_ended_with_it(tmp_path):
    # The agent ends when its parent does, unless that was another from the beginning.
    program = wrapper(tmp_path, "wrap", f"(sleep 1; exec {find_agent()} attach bfs) > /dev/null &")
    quick = ("--on", "host", "--work", "counters:n=1,count=100000", "--blocks", "2", "--out", tmp_path / "c")
    run("compare", "default", f"exec:{program}", *quick)
    taken = rows(tmp_path / "c")
    assert [row["valid"] for row in taken] == [1] * 4, [row["reason"] for row in taken]
    assert {row["proof"]["attached"]["ops"] for row in taken} == {"", "bfs"}
    assert state() == "disabled"
    assert remains() == []


def test_a_scheduler_that_another_process_attaches_is_not_the_programs(tmp_path):
    now = tmp_path / "now"
    wait = f"until [ -e {now} ]; do sleep 0.1; done"
    foreign = wrapper(tmp_path, "foreign", f"{wait}; exec {find_agent()} attach bfs")
    other = subprocess.Popen([foreign], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    program = wrapper(tmp_path, "idle", f"touch {now}; exec sleep 1000")
    quick = ("--on", "host", "--work", "counters:n=1,count=1000", "--out", tmp_path / "c")
    done = run("compare", "default", f"exec:{program}", *quick, expect=69)
    other.send_signal(signal.SIGTERM)
    other.wait(60)
    assert 'did not attach the scheduler "bfs"' in done.stderr
    assert '"bfs" is still attached: end the process that attached it' in done.stderr
    wait_until(lambda: state() == "disabled")


def test_kill_in_the_middle_then_resume_completes_and_restore_leaves_nothing(tmp_path):
    process = start(
        "compare", "default", "bfs", "--on", "host", "--work", "command:sleep 2", "--blocks", "3",
        "--out", tmp_path / "c",
    )  # fmt: skip
    wait_until(lambda: len(rows(tmp_path / "c")) >= 2)
    agents = children(process.pid)
    process.kill()
    process.communicate(timeout=LIMIT_S)
    # Both at once, as when the machine runs out of memory: the agent cannot clean up after itself.
    for agent in agents:
        with suppress(ProcessLookupError):
            os.kill(agent, signal.SIGKILL)
    wait_until(lambda: state() == "disabled")
    before = rows(tmp_path / "c")
    run("resume", tmp_path / "c")
    after = rows(tmp_path / "c")
    assert len(after) == 6
    assert after[: len(before)] == before
    assert all(row["valid"] for row in after)
    run("restore")
    assert remains() == []
    assert state() == "disabled"
