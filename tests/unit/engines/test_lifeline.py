"""A program that ends with runoff does so however soon runoff is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from processes import is_running

from runoff.engines.agent import find_agent

START = (
    "import os, subprocess, sys; from runoff.engines.agent import end_with_us\n"
    "process = subprocess.Popen(end_with_us(sys.argv[1:]), stdin=subprocess.DEVNULL)\n"
    "print(process.pid, flush=True); process.wait()\n"
)


def start(*words: str, **environment: str) -> tuple["subprocess.Popen[str]", int]:
    """A process that has started a program, and the program's number."""
    starter = subprocess.Popen(
        [sys.executable, "-c", START, *words], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    assert starter.stdout is not None
    return starter, int(starter.stdout.readline())


@pytest.mark.parametrize("gap_s", [0, 1])
def test_a_program_ends_though_the_gap_before_it_is_bound_is_wide(tmp_path: Path, gap_s: int) -> None:
    """Killed between the start of the program and its request to be killed: that signal is not sent any more."""
    slow = tmp_path / "agent"
    slow.write_text(f'#!/bin/sh\nsleep {gap_s}\ntouch {tmp_path}/passed\nexec {find_agent()} "$@"\n')
    slow.chmod(0o755)
    starter, pid = start("sh", "-c", f"touch {tmp_path}/began; exec sleep 1000", RUNOFF_AGENT=str(slow))
    if gap_s == 0:
        waiting.wait_until(lambda: (tmp_path / "began").exists())
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    waiting.wait_until(lambda: (tmp_path / "passed").exists())
    waiting.wait_until(lambda: not is_running(pid))
    assert (tmp_path / "began").exists() == (gap_s == 0)


def test_a_program_is_itself_and_says_how_it_ended(tmp_path: Path) -> None:
    starter, _ = start("sh", "-c", f"echo $$ >{tmp_path}/pid; exit 3")
    starter.wait()
    done = subprocess.run(
        [find_agent(), "end-with", str(os.getpid()), "--", "sh", "-c", "exit 3"], check=False, capture_output=True
    )
    assert done.returncode == 3
    gone = subprocess.run(
        [find_agent(), "end-with", "1", "--", "touch", tmp_path / "ran"], check=False, capture_output=True, text=True
    )
    assert (gone.returncode, "its parent has ended" in gone.stderr) == (1, True)
    assert not (tmp_path / "ran").exists()
    lost = subprocess.run(
        [find_agent(), "end-with", str(os.getpid()), "--", "/nowhere/x"], check=False, capture_output=True, text=True
    )
    assert "cannot run /nowhere/x" in lost.stderr
