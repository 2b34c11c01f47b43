"""Campaigns of this machine that are held in the middle of a sample, so that something can happen to them there."""

import signal
import subprocess
from pathlib import Path
from typing import Any

from command import start
from waiting import LIMIT_S, wait_until


def workload(path: Path, script: str, timeout_s: float = 60) -> Path:
    """A user's workload that runs a shell script."""
    path.write_text(
        f'title = "test"\ndescription = "A test."\ncommand = ["sh", "-c", {script!r}]\n'
        f"timeout_s = {timeout_s}\nelapsed_headline = true\n",
        encoding="utf-8",
    )
    return path


class Held:
    """A campaign of four samples that each go on until they may end, however long anything else takes."""

    def __init__(self, folder: Path, **options: Any) -> None:
        """``options`` are those of ``command.start``."""
        self._folder = folder
        self.out = folder / "out"
        script = f"cd {folder}; echo run >>runs; n=$(wc -l <runs); until [ -e end$n ]; do sleep 0.02; done"
        work = workload(folder / "held.toml", script, timeout_s=LIMIT_S)
        words = ("compare", "default", "--on", "host", "--work", work, "--blocks", "4", "--out", self.out)
        self._err = (folder / "said").open("w+")
        self.process: subprocess.Popen[str] = start(*words, **{"stderr": self._err, **options})

    @property
    def runs(self) -> int:
        """How many samples have begun."""
        file = self._folder / "runs"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def let_end(self, *numbers: int) -> None:
        """Samples by the order in which they began, from 1 on."""
        for number in numbers:
            (self._folder / f"end{number}").touch()

    def await_run(self, number: int) -> None:
        self.let_end(*range(1, number))
        wait_until(lambda: self.runs >= number, LIMIT_S)

    def interrupt(self, answer: str) -> None:
        """Ctrl-C, which it has heard when it says so."""
        self.process.send_signal(signal.SIGINT)
        wait_until(lambda: answer in self.said(), LIMIT_S)

    def said(self) -> str:
        return (self._folder / "said").read_text()

    def end(self) -> str:
        """All that it said."""
        out, _ = self.process.communicate(timeout=LIMIT_S)
        return str(out) + self.said()
