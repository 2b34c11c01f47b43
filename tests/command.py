"""The `runoff` command as its users run it: a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
from waiting import LIMIT_S

_MAIN = [sys.executable, "-c", "from runoff.cli.main import main; main()"]

MOST_LINES, MOST_CHARACTERS = 40, 400
"""How much of the output is shown when it ended otherwise than expected."""


def start(*arguments: str | Path, **options: Any) -> "subprocess.Popen[str]":
    """Start it in a session of its own, so that a signal to it reaches no other process."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment, **options}
    words = list(map(str, arguments))
    if forked.WANTED in os.environ:
        usual["preexec_fn"] = forked.command(words, usual["env"], usual.get("preexec_fn"))
    process = subprocess.Popen([*_MAIN, *words], text=True, start_new_session=True, **usual)
    _started.append(process)
    return process


_started: "list[subprocess.Popen[str]]" = []


def end_started() -> None:
    """End what still runs of all that was started."""
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


def run(*arguments: str | Path, expect: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run it to its end and check the exit code."""
    process = start(*arguments)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == expect, f"exit {process.returncode}, not {expect}\n{_told(out)}\n{_end(err)}"
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _told(out: str) -> str:
    """Why samples are void, if ``out`` is a document; it is long."""
    try:
        document = json.loads(out)
    except ValueError:
        return _end(out)
    if not isinstance(document, dict) or "samples" not in document:
        return _end(out)
    void = [f"{each['id']} ({each['arm']}): {each['reason']}" for each in document["samples"] if not each["valid"]]
    return f"{len(document['samples'])} samples, {len(void)} void\n" + "\n".join(void)


def _end(text: str) -> str:
    return "\n".join(line[:MOST_CHARACTERS] for line in text.splitlines()[-MOST_LINES:])


def samples(document: str) -> dict[str, dict[str, Any]]:
    """The samples of a ``--json`` document by id."""
    return {sample["id"]: sample for sample in json.loads(document)["samples"]}
