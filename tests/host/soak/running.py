"""A command that takes the samples of a campaign, and what is done to it."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from command import start
from processes import children

from soak import traces

LIMIT_S = 300
"""Limit for something that takes some seconds on a quiet machine."""
LOOK_S = 0.005
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Kind:
    """The processes of a command that can be hit, and when."""

    victims: tuple[tuple[tuple[str, ...], ...], ...]
    """Groups of those that are hit together; of each group one is as likely as another."""
    starting_s: float
    """How long it may take to begin."""
    sample_s: float


HOST = Kind(
    (
        (("notebook",), ("agent",), ("child",)),
        (("agent", "notebook"), ("notebook", "agent"), ("child", "notebook"), ("child", "agent", "notebook")),
    ),
    starting_s=0.6,
    sample_s=0.2,
)
HOST_WITH_SERVERS = replace(HOST, victims=((*HOST.victims[0], ("server",)), HOST.victims[1]))
LAB = Kind(((("notebook",), ("agent",)), (("agent", "notebook"), ("notebook", "agent"))), starting_s=2, sample_s=0.6)
"""In the lab QEMU is the process that holds the agent."""


@dataclass(frozen=True)
class Interruption:
    """When ``begun`` samples have begun since the command was started, and then after a delay, each victim is hit."""

    begun: int
    delay_s: float
    victims: tuple[tuple[str, signal.Signals], ...]
    choice: float
    """Selects one among several processes of the work."""

    @classmethod
    def drawn(cls, draw: Random, samples: int, kind: Kind) -> "Interruption":
        """``samples`` are still to be taken."""
        begun = draw.randrange(samples + 1)
        delay_s = draw.uniform(0, kind.starting_s if begun == 0 else kind.sample_s)
        who = draw.choice(draw.choice(kind.victims))
        # When all are killed at once most is left.
        hard = draw.random() < 0.5
        victims = tuple((each, signal.SIGKILL if hard else draw.choice(SIGNALS)) for each in who)
        return cls(begun, delay_s, victims, draw.random())

    def __str__(self) -> str:
        what = ", ".join(f"{number.name} to {who}" for who, number in self.victims)
        return f"{what}, {self.delay_s:.3f} s after the beginning of sample {self.begun}"


class Running:
    """A command from its start to its end."""

    def __init__(self, folder: Path, words: list[str | Path], begun: Callable[[], int]) -> None:
        """``begun`` counts the samples that have begun since."""
        self._folder = folder
        self._begun = begun
        self._log = folder / "said.txt"
        with self._log.open("w") as log:
            self.process: subprocess.Popen[str] = start(*words, stdout=log, stderr=log, env=environment(folder))

    def end(self) -> int:
        """The exit code of the process, waited for."""
        try:
            return self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
            self.process.wait()

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def await_moment(self, interruption: Interruption) -> bool:
        """False if it ended before."""
        end = time.monotonic() + LIMIT_S
        while self._begun() < interruption.begun:
            if self.process.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(LOOK_S)
        time.sleep(interruption.delay_s)
        return self.process.poll() is None

    def hit(self, interruption: Interruption) -> list[str]:
        """Hits the victims; returns those that were there."""
        found = [(who, self._find(who, interruption.choice), number) for who, number in interruption.victims]
        hit = []
        for who, pid, number in found:
            with contextlib.suppress(ProcessLookupError):
                if pid is not None:
                    os.kill(pid, number)
                    hit.append(who)
        return hit

    def _find(self, who: str, choice: float) -> int | None:
        """None if there is none at this moment."""
        if who == "notebook":
            return self.process.pid
        agents = children(self.process.pid)
        servers = [pid for agent in agents for pid in children(agent) if _is_server(pid)]
        work = [each.pid for each in traces.marked(traces.WORK, self._folder)]
        those = {"agent": agents, "server": servers, "child": work}[who]
        return those[int(choice * len(those))] if those else None


def environment(folder: Path) -> dict[str, str]:
    """An environment by which all processes of a notebook are recognised."""
    return {**os.environ, traces.NOTEBOOK: str(folder), "NO_COLOR": "1"}


def _is_server(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:2] == [b"disk"]
    except OSError:
        return False
