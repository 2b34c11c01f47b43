"""Work that changes what measures it, the agent or the notebook that starts agents, changes no later sample."""

import os
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run

pytestmark = [
    pytest.mark.host,
    pytest.mark.core,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]

WORK = """
import ctypes, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
GETATTR, SETATTR, FIELDS = 315, 314, struct.Struct("IIQiIQQQII")

def read(pid):
    raw = ctypes.create_string_buffer(FIELDS.size)
    assert libc.syscall(GETATTR, pid, raw, FIELDS.size, 0) == 0
    return list(FIELDS.unpack(raw.raw))

def set_slice(pid, ns):
    fields = read(pid)
    fields[5] = ns
    assert libc.syscall(SETATTR, pid, FIELDS.pack(*fields), 0) == 0

def slow_notebook():
    agent = os.getppid()
    notebook = int(open(f"/proc/{agent}/stat").read().rpartition(")")[2].split()[1])
    for thread in map(int, os.listdir(f"/proc/{notebook}/task")):
        os.setpriority(os.PRIO_PROCESS, thread, 15)
        os.sched_setaffinity(thread, {min(os.sched_getaffinity(0))})
        set_slice(thread, 100_000_000)
    os.kill(agent, signal.SIGKILL)

count = os.path.getsize("COUNT") if os.path.exists("COUNT") else 0
open("COUNT", "a").write("x")
print("slice", read(0)[5], "nice", os.getpriority(os.PRIO_PROCESS, 0), "cpus", len(os.sched_getaffinity(0)))
if count == 2:
    ACT
"""
CANARIES = ("slice", "nice", "cpus")


def take(tmp_path: Path, act: str) -> tuple[list[dict[str, object]], str]:
    """Take six samples, of which the third does ``act``; returns them, and what was said."""
    script = tmp_path / "work.py"
    script.write_text(WORK.replace("COUNT", str(tmp_path / "count")).replace("ACT", act))
    work = tmp_path / "work.toml"
    found = "\n".join(
        f'[metrics.{name}]\ntitle = "{name}"\npattern = "{name} ([0-9-]+)"\nunit = "x"\ndirection = "none"'
        for name in CANARIES
    )
    work.write_text(
        f'title = "t"\ndescription = "t"\ncommand = ["python3", "{script}"]\nelapsed_headline = true\n{found}\n'
    )
    done = run("compare", "default", "--on", "host", "--work", work, "--blocks", "6", "--out", tmp_path / "out")
    return rows(tmp_path / "out"), done.stdout + done.stderr


def list_canaries(taken: list[dict[str, object]]) -> list[tuple[float, ...]]:
    """What the valid samples ran with."""
    return [tuple(row["metrics"][name] for name in CANARIES) for row in taken if row["valid"]]  # type: ignore[index]


def test_a_slice_that_work_gives_the_agent_is_found_and_taken_away(tmp_path: Path) -> None:
    taken, _ = take(tmp_path, "set_slice(os.getppid(), 100_000_000)")
    if all(row["valid"] for row in taken) and taken[0]["metrics"]["slice"] == 0:  # type: ignore[index]
        pytest.skip("this kernel takes no slices")
    assert [row["valid"] for row in taken] == [True, True, False, True, True, True]
    assert "its slice was the kernel's, is 100000000 ns" in str(taken[2]["reason"])
    assert len(set(list_canaries(taken))) == 1


def test_an_agent_runs_with_what_the_first_one_had_though_the_notebook_was_changed(tmp_path: Path) -> None:
    taken, said = take(tmp_path, "slow_notebook()")
    assert [row["valid"] for row in taken] == [True, True, False, True, True, True]
    assert "the agent was lost" in str(taken[2]["reason"])
    assert len(set(list_canaries(taken))) == 1, list_canaries(taken)
    assert "what runs runoff was changed while the campaign ran" in said
    assert "its nice value was 0, is 15" in " ".join(said.split())
