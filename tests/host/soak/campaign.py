"""One campaign of the soak: interrupted, resumed until it is complete, and looked at."""

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import campaign_rows
import tomli_w
from command import start

from soak import traces
from soak.running import LIMIT_S, Interruption, Kind, Running, environment

AGENT_LIMIT_S = 60
"""An agent puts everything back and leaves within this when its notebook is gone."""
COMPLETE = (0, 2)
"""Exit codes: 2 says that a workload has no valid sample."""


class Broken(AssertionError):
    """A fault that the soak is there to find."""


class Campaign:
    """One of ``samples`` samples. Subclasses say how to count those that have begun, and judge them in the end."""

    def __init__(self, folder: Path, name: str, plan: dict[str, Any], samples: int, machine: traces.Machine) -> None:
        self._folder, self._machine, self._samples = folder, machine, samples
        self.directory = folder / f"campaign-{name}"
        self._plan = folder / f"plan-{name}.toml"
        self._plan.write_text(tomli_w.dumps(plan))
        self._rows: dict[str, dict[str, Any]] = {}
        self._hits = 0
        self.story: list[str] = []
        """The course of events, to find out why it failed."""

    @property
    def is_complete(self) -> bool:
        return len(self._rows) == self._samples

    def interrupt(self, draw: Random, kind: Kind) -> bool:
        """Goes on with the campaign and hits it; whether that was in time."""
        interruption = Interruption.drawn(draw, self._samples - len(self._rows), kind)
        self.story.append(str(interruption))
        running = self._go_on()
        hit = []
        if running.await_moment(interruption):
            self.look_at_journal()
            hit = running.hit(interruption)
        code = running.end()
        self._hits += bool(hit)
        self.story.append(f"hit {', '.join(hit) or 'nobody'}; it ended with {code}: {running.said()[-300:].strip()}")
        self._look_at_words(running)
        self.look_at_journal()
        return bool(hit)

    def finish(self) -> None:
        """Runs to the end without an interruption."""
        if not self.is_complete:
            running, code = self._go_on_to_the_end()
            if "wait until it has ended" in running.said():
                self.story.append("not interrupted, it found that the agent before was not done yet")
                self._await_agents()
                running, code = self._go_on_to_the_end()
            self._require(code in COMPLETE, f"not interrupted, it ended with {code}: {running.said()}")
            self._look_at_words(running)
            self.look_at_journal()
        self._require(self.is_complete, f"it ended with {len(self._rows)} of {self._samples} samples")
        self._judge_samples()

    def restore(self) -> None:
        """Once the agents have gone by themselves; and then nothing is left."""
        self._await_agents()
        done = start("restore", env=environment(self._folder))
        out, err = done.communicate(timeout=LIMIT_S)
        self.story.append(f"restore: {'; '.join((out + err).splitlines())}")
        self._require(done.returncode == 0, f"restore ended with {done.returncode}")
        # Agents of others on this machine may be in the middle of theirs.
        left = _within(2, self._machine.left)
        self._require(not left, "after restore there is still: " + "; ".join(left))

    def look_at_journal(self) -> None:
        """Checks that finished samples are there and unchanged."""
        now = rows(self.directory)
        lost = [cell for cell, row in self._rows.items() if now.get(cell) != row]
        self._require(not lost, f"finished samples were lost or changed: {', '.join(lost)}")
        self._rows = now

    def _go_on(self) -> Running:
        resumed: list[str | Path] = ["resume", self.directory]
        begun: list[str | Path] = ["run", self._plan, "--out", self.directory]
        there = (self.directory / "journal.sqlite").exists()
        return self._run(resumed if there else begun)

    def _run(self, words: list[str | Path]) -> Running:
        raise NotImplementedError

    def _judge_samples(self) -> None:
        raise NotImplementedError

    def _go_on_to_the_end(self) -> tuple[Running, int]:
        running = self._go_on()
        return running, running.end()

    def _await_agents(self) -> None:
        found = _within(AGENT_LIMIT_S, lambda: traces.marked(traces.NOTEBOOK, self._folder))
        self._require(not found, f"stays without its notebook: {', '.join(map(str, found))}")

    def _look_at_words(self, running: Running) -> None:
        said = running.said()
        self._require("Traceback" not in said and "panicked" not in said, f"it says:\n{said}")

    def _require(self, condition: bool, what: str) -> None:
        if not condition:
            raise Broken("\n".join([what, *(f"  {line}" for line in self.story)]))


def _within(limit_s: float, look: Callable[[], list[Any]]) -> list[Any]:
    """What ``look`` still finds after ``limit_s`` at most."""
    end = time.monotonic() + limit_s
    while (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def rows(directory: Path) -> dict[str, dict[str, Any]]:
    """The samples by cell, read as anybody may while they are written."""
    return {row["cell"]: row for row in campaign_rows.rows(directory)}
