"""What shells offer; bash is a real one."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runoff.campaign.journal.database import FILE
from runoff.cli.completion_scripts import SHELLS
from runoff.cli.main import cli

LIMIT_S = 60.0
PROMPT = "ready> "


def complete(line: str) -> list[str]:
    """Return what is offered at the end of a command line, as bash gets it."""
    environment = {**os.environ, "COMP_LINE": line, "COMP_POINT": str(len(line)), "_RUNOFF_COMPLETE": "bash_complete"}
    done = subprocess.run([sys.executable, "-m", "runoff"], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return list(filter(None, done.stdout.splitlines()))


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("runoff comp", ["plain,compare", "plain,completion"]),
        ("runoff compare default z", ["plain,zaphod"]),
        ("runoff compare default zaphod:mo", ["plain,mode="]),
        ("runoff compare default zaphod:mode=", ["plain,eb", "plain,pb"]),
        ("runoff compare default bfs:iso_cpu=3,rr", ["plain,3,rr_interval_ms="]),
        ("runoff compare default+quot", ["plain,default+quota="]),
        ("runoff compare default+io=antic", ["plain,anticipatory"]),
        ("runoff compare default ./", ["file,"]),
        ("runoff compare default bfs --work hackb", ["plain,hackbench"]),
        ("runoff compare default bfs --work counters:n=1 --load io", ["plain,io", "plain,io_other"]),
        ("runoff compare default bfs --work hackbench:gr", ["plain,groups="]),
        ("runoff compare default bfs --probe wake", ["plain,wakeups"]),
        ("runoff compare default bfs --clock v", ["plain,virtual"]),
        ("runoff compare default 'bfs:rr", ["plain,bfs:rr_interval_ms="]),
        ("runoff run counters-q", ["plain,counters-quick"]),
        ("runoff list work", ["plain,workloads"]),
        ("runoff completion f", ["plain,fish"]),
    ],
)
def test_words(line, offered):
    found = complete(line)
    assert [each for each in found if each in offered] == found
    assert sorted(found) == sorted(offered)


def test_campaigns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("results/one", "results/two", "other"):
        Path(name).mkdir(parents=True)
    Path("results/one", FILE).touch()
    Path("results/two", FILE).touch()
    assert complete("runoff report ") == ["plain,results/one", "plain,results/two"]
    assert complete("runoff report results/t") == ["plain,results/two"]
    assert complete("runoff resume oth") == ["dir,"]


def test_without_an_agent_nothing_is_said(monkeypatch):
    monkeypatch.setenv("RUNOFF_AGENT", "/bin/false")
    assert complete("runoff compare bf") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_it_can_read(shell):
    script = SHELLS[shell](cli, {}, "runoff", "_RUNOFF_COMPLETE").source()
    assert "_RUNOFF_COMPLETE" in script
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def read_until(terminal: int, wanted: str) -> str:
    told, ends = "", time.monotonic() + LIMIT_S
    while wanted not in told:
        assert time.monotonic() < ends, told
        if select.select([terminal], [], [], 1)[0]:
            told += os.read(terminal, 4096).decode()
    return told


def test_in_a_real_bash():
    """An arm with a colon and an equals sign, which are ends of words to bash."""
    process, terminal = pty.fork()
    if process == 0:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], {"PATH": path, "PS1": PROMPT, "TERM": "dumb"})
    try:
        read_until(terminal, PROMPT)
        os.write(terminal, b'eval "$(runoff completion bash)"; echo loaded\n')
        read_until(terminal, "\nloaded")
        for typed, wanted in ((b"runoff compare default zaphod:mod\t", ":mode="), (b"e\t", "eb ")):
            os.write(terminal, typed)
            read_until(terminal, wanted)
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)
