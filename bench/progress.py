"""One campaign run as a user runs it; its progress lines are stamped as they arrive."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FINISHED = re.compile(r"\d+/\d+  block \d+/\d+  ")
"""How a progress line begins that `runoff` writes after a sample is in the journal."""

_ATTEMPTS = 5
_MISSING = 69


@dataclass(frozen=True, slots=True)
class Campaign:
    """When the samples of one campaign were finished, and its report."""

    finished_s: Sequence[float]
    """Wall time since the command was started, one a sample, in run order."""
    report: dict[str, Any]

    def metric(self, name: str, arm: str | None = None) -> list[float]:
        """Return a metric's values in run order; all samples are valid."""
        return [each["metrics"][name] for each in self.report["samples"] if arm in (None, each["arm"])]


def program() -> list[str]:
    """Return the command under test: the variable ``RUNOFF``, beside this Python, or on the path."""
    beside = Path(sys.executable).parent / "runoff"
    found = os.environ.get("RUNOFF") or (str(beside) if beside.exists() else shutil.which("runoff"))
    if not found:
        sys.exit("runoff was not found: make setup, or set RUNOFF to the command")
    return shlex.split(found)


def compare(*arguments: str) -> Campaign:
    """Run ``runoff compare`` in a directory that is thrown away; ends the program when a sample is void.

    A guest that does not start is reported and tried again: it is another defect than the one that is measured.
    """
    for _ in range(_ATTEMPTS):
        campaign = _attempt(arguments)
        if campaign is not None:
            return campaign
    sys.exit(f"no guest started in {_ATTEMPTS} attempts")


def _attempt(arguments: Sequence[str]) -> Campaign | None:
    with tempfile.TemporaryDirectory() as directory:
        command = [*program(), "compare", "--seed", "1", *arguments, "--json", "--out", f"{directory}/campaign"]
        start_s = time.monotonic()
        with (Path(directory) / "report.json").open("w+") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True)
            assert process.stderr is not None
            finished_s, words = [], []
            for line in process.stderr:
                words.append(line)
                if _FINISHED.match(line):
                    finished_s.append(time.monotonic() - start_s)
            status = process.wait()
            output.seek(0)
            text = output.read()
    if status == _MISSING and "did not start" in words[-1]:
        print(f"not counted: {words[-1].strip()}", flush=True)
        return None
    if status != 0:
        sys.exit(f"{shlex.join(command)} failed with exit status {status}:\n{''.join(words)}")
    report = json.loads(text)
    void = [sample["reason"] for sample in report["samples"] if not sample["valid"]]
    if void or len(finished_s) != report["planned"]:
        sys.exit(f"{shlex.join(command)}: {len(finished_s)} of {report['planned']} samples, void: {void}")
    return Campaign(finished_s, report)
