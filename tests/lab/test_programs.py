"""Programs that attach a scheduler, on a real kernel: theirs is proved to be theirs, and ends with them."""

import subprocess
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run

from runoff.engines.agent import find_agent

pytestmark = [pytest.mark.lab]

WORK = ("--work", "counters:n=1,count=1000,passes=1", "--cpus", "2", "--blocks", "2")


def attachments(directory: Path) -> list[tuple[str, bool, str]]:
    """Arm, validity and the scheduler in charge of each sample."""
    return [(row["arm"], row["valid"], row["proof"]["before"]["ops"]) for row in rows(directory)]


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.usefixtures("lab_kernel", "own_qemu")
def test_a_daemon_attaches_for_a_program_that_has_exited_and_ends_with_the_sample(clock: str, tmp_path: Path) -> None:
    wrapper = tmp_path / "wrapper"
    source = Path(__file__).with_name("wrapper.c")
    subprocess.run(["gcc", "-static", "-O1", "-o", wrapper, source], check=True)
    programs = [f"exec:{wrapper}", f"exec:{find_agent()} attach bfs"]
    run("compare", "--seed", "1", "default", *programs, *WORK, "--clock", clock, "--out", tmp_path / "c")
    taken = attachments(tmp_path / "c")
    assert len(taken) == 6
    for arm, valid, ops in taken:
        # A daemon that were left behind would be in charge of the next sample, or have it refused.
        assert (valid, ops) == (True, "" if arm == "default" else "bfs")
