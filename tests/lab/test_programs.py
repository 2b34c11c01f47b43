"""Programs that attach a scheduler, on a real kernel: theirs is proved to be theirs, and ends with them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from campaign_rows import rows
from command import run

from runoff.engines.agent import find_agent

pytestmark = [pytest.mark.lab]

WORK = ("--work", "counters:n=1,count=1000,passes=1", "--cpus", "2", "--blocks", "2")


def attachments(directory: Path) -> list[tuple[str, bool, str]]:
    """Arm, validity and the scheduler in charge of each sample."""
    return [(row["arm"], row["valid"], row["proof"]["before"]["ops"]) for row in rows(directory)]


def compile_wrapper(path: Path) -> Path:
    """A program that ends when a child of its own has attached bfs."""
    source = Path(__file__).with_name("wrapper.c")
    subprocess.run(["gcc", "-static", "-O1", "-o", path, source], check=True)
    return path


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.usefixtures("lab_kernel", "own_qemu")
def test_a_daemon_attaches_for_a_program_that_has_exited_and_ends_with_the_sample(clock: str, tmp_path: Path) -> None:
    wrapper = compile_wrapper(tmp_path / "wrapper")
    programs = [f"exec:{wrapper}", f"exec:{find_agent()} attach bfs"]
    run("compare", "--seed", "1", "default", *programs, *WORK, "--clock", clock, "--out", tmp_path / "c")
    taken = attachments(tmp_path / "c")
    assert len(taken) == 6
    for arm, valid, ops in taken:
        # A daemon that were left behind would be in charge of the next sample, or have it refused.
        assert (valid, ops) == (True, "" if arm == "default" else "bfs")


@pytest.mark.usefixtures("lab_kernel", "own_qemu")
def test_a_program_by_its_name_runs_in_a_kept_guest_and_gives_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for an arm that sets the machine otherwise: that comes before the program, so it starts in each sample."""
    (tmp_path / "bin").mkdir()
    wrapper = compile_wrapper(tmp_path / "bin/scx_wrapper")
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    arms = ("default", "scx_wrapper", "scx:wrapper+thp=never")
    work = ("--work", "counters:n=3,count=1000,passes=1", "--cpus", "2", "--blocks", "2", "--seed", "1")

    def take(name: str) -> dict[str, Any]:
        done = run("compare", *arms, *work, "--clock", "virtual", "--out", tmp_path / name, "--json")
        return json.loads(done.stdout)

    first = take("a")
    assert attachments(tmp_path / "a").count(("scx_wrapper", True, "bfs")) == 2
    assert attachments(tmp_path / "a").count((arms[2], True, "bfs")) == 2
    assert "scx_wrapper" in first["fingerprint"]["snapshots"]
    assert arms[2] not in first["fingerprint"]["snapshots"]
    assert [each["metrics"] for each in take("b")["samples"]] == [each["metrics"] for each in first["samples"]]
