"""Schedulers, work and guests that fail: their samples are void, the reason names it, the campaign goes on."""

import contextlib
import os
import signal
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run, samples, start
from processes import GONE, children
from waiting import LIMIT_S, wait_until

pytestmark = [pytest.mark.lab]

EXACT = ("--clock", "virtual", "--cpus", "1", "--memory", "512", "--seed", "1")

STALLED = """
title = "a task the staller forgets"
description = "d"
command = ["./stallme", "-c", "for n in 1 2 3 4; do (i=0; while [ $i -lt 10000 ]; do i=$((i+1)); done) & done; wait"]
prepare = [["cp", "/bin/sh", "stallme"]]
timeout_s = 600
"""

PANIC = """
title = "the end of the kernel"
description = "d"
command = ["sh", "-c", "echo c > /proc/sysrq-trigger"]
timeout_s = 60
"""


@pytest.fixture(autouse=True)
def prepared(lab_kernel, lab_image) -> None:
    """All of these boot the demo's kernel with its image."""


def workload(folder: Path, text: str) -> Path:
    path = folder / "work.toml"
    path.write_text(text)
    return path


@pytest.mark.core
def test_an_ejected_scheduler_voids_its_sample_and_the_next_arm_runs(tmp_path: Path, test_objects: Path) -> None:
    staller = test_objects / "staller.bpf.o"
    document = run(
        "compare", "default", staller, "--work", workload(tmp_path, STALLED), "--package", "rt-tests",
        "--blocks", "1", *EXACT, "--out", tmp_path / "c", "--json", expect=2,
    ).stdout  # fmt: skip
    taken = samples(document)
    for sample in taken.values():
        if sample["arm"] == "default":
            assert sample["valid"], sample
        else:
            assert not sample["valid"]
            assert "was ejected during the run" in sample["reason"]
            assert "runnable task stall" in sample["reason"]
    assert len(taken) == 2


def test_an_object_that_the_verifier_rejects_is_refused_with_the_end_of_its_log(
    tmp_path: Path, test_objects: Path
) -> None:
    rejected = test_objects / "rejected.bpf.o"
    done = run(
        "compare", "--seed", "1", "default", rejected, "--work", "counters:n=1", "--out", tmp_path / "c", expect=64
    )
    assert "cannot be used: the kernel rejected rejected: Permission denied" in done.stderr
    assert "/rejected.bpf.o" in done.stderr
    assert "END PROG LOAD LOG" in done.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.core
def test_a_kernel_panic_voids_the_sample_and_the_campaign_boots_anew(tmp_path: Path) -> None:
    document = run(
        "compare", "default", "--work", workload(tmp_path, PANIC), "--work", "counters:n=1,count=1000000",
        "--package", "rt-tests", "--blocks", "2", *EXACT, "--out", tmp_path / "c", "--json", expect=2,
    ).stdout  # fmt: skip
    for sample in samples(document).values():
        if sample["workload"].startswith("counters"):
            assert sample["valid"], sample
        else:
            assert "Kernel panic" in sample["reason"]
    assert len(list((tmp_path / "c/guests").glob("boot-*/console.txt"))) >= 2


def cpu_s(pid: int) -> float:
    """That a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def working(pid: int) -> list[int]:
    """Guests of a runoff that are not only beginning."""
    found = []
    for child in children(pid):
        with contextlib.suppress(*GONE):
            if cpu_s(child) > 1.5:
                found.append(child)
    return found


def journalled(directory: Path) -> int:
    return len(rows(directory))


def test_a_killed_guest_voids_one_sample(tmp_path: Path) -> None:
    process = start("compare", "default", "--work", "counters:n=1,count=30000000,passes=20", "--blocks", "3",
                    "--seed", "1", "--out", tmp_path / "c", "--json")  # fmt: skip
    wait_until(lambda: journalled(tmp_path / "c") == 1)
    wait_until(lambda: working(process.pid))
    for child in working(process.pid):
        os.kill(child, signal.SIGKILL)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    reasons = [sample["reason"] for sample in samples(out).values()]
    assert sum(reason is not None for reason in reasons) == 1
    assert any(reason and "the guest was lost" in reason for reason in reasons)


@pytest.mark.core
def test_kill_minus_nine_then_resume_loses_nothing_and_leaves_no_guest(tmp_path: Path) -> None:
    process = start("compare", "default", "bfs", "--work", "counters:n=1,count=1000000,passes=2", "--blocks", "5",
                    *EXACT, "--out", tmp_path / "c")  # fmt: skip
    wait_until(lambda: journalled(tmp_path / "c") >= 2)
    guests = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = samples(run("report", tmp_path / "c", "--json").stdout)
    assert len(before) >= 2
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in guests))
    after = samples(run("resume", tmp_path / "c", "--json").stdout)
    assert len(after) == 10
    assert all(after[cell] == sample for cell, sample in before.items())


@pytest.mark.core
def test_every_sample_carries_the_same_attachment_before_and_after(tmp_path: Path) -> None:
    run("compare", "default", "bfs:rr_interval_ms=3", "--work", "counters:n=2,count=5000000", "--blocks", "2",
        *EXACT, "--out", tmp_path / "c")  # fmt: skip
    taken = rows(tmp_path / "c")
    assert len(taken) == 4
    for arm, valid, proof in ((row["arm"], row["valid"], row["proof"]) for row in taken):
        assert valid
        assert proof["before"] == proof["after"]
        assert proof["before"]["ops"] == ("" if arm == "default" else "bfs")
        assert proof["before"]["state"] == ("disabled" if arm == "default" else "enabled")
        assert (proof["threads_checked"] > 0) == (arm != "default")
