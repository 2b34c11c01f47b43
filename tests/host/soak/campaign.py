"""One campaign of the soak: drawn by a seed, interrupted, resumed until it is complete, and looked at."""

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import campaign_rows
import tomli_w
from command import start

from soak import traces
from soak.running import LIMIT_S, Interruption, Running, environment

SOUND = ("files", "nested", "mounts", "loud")
"""Valid, unless its sample is interrupted."""
ROUGH = ("mounted", "daemon", "frozen", "leaver", "apart", "covers", "flood")
"""Void, and nothing of it is left."""
WORK = Path(__file__).with_name("work.sh")

AGENT_LIMIT_S = 60
"""An agent puts everything back and leaves within this when its notebook is gone."""
COMPLETE = (0, 2)
"""Exit codes: 2 says that a workload has no valid sample."""


class Broken(AssertionError):
    """What the soak is there to find."""


class Campaign:
    """Of four samples, two of them void by their work; some have the disk's elevator."""

    def __init__(self, folder: Path, seed: int, draw: Random, machine: traces.Machine) -> None:
        self._folder, self._machine = folder, machine
        self.directory = folder / f"campaign-{seed}"
        self._plan = folder / f"plan-{seed}.toml"
        self._ways = draw.sample(SOUND, 2) + draw.sample(ROUGH, 2)
        self._rows: dict[str, dict[str, Any]] = {}
        self._hits = 0
        self.story: list[str] = []
        """For whoever has to find out why it failed."""
        works = [folder / f"{how}.toml" for how in self._ways]
        for how, path in zip(self._ways, works, strict=True):
            path.write_text(_workload(folder, how))
        plan = {"arms": ["default"], "workloads": list(map(str, works)), "on": "host", "blocks": 1, "seed": seed}
        if machine.disk is not None and draw.random() < 0.4:
            plan |= {"arms": [f"default+io={draw.choice(machine.disk.elevators)}"], "place": str(machine.disk.place)}
        self._plan.write_text(tomli_w.dumps(plan))
        self.story.append(f"{plan['arms']} on {', '.join(self._ways)}")

    @property
    def is_complete(self) -> bool:
        return len(self._rows) == len(self._ways)

    def interrupt(self, draw: Random, servers: bool) -> bool:
        """Goes on with the campaign and hits it; whether that was in time."""
        interruption = Interruption.drawn(draw, len(self._ways) - len(self._rows), servers)
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
        """To the end, without being interrupted."""
        if not self.is_complete:
            running, code = self._go_on_to_the_end()
            if "wait until it has ended" in running.said():
                self.story.append("not interrupted, it found that the agent before was not done yet")
                self._await_agents()
                running, code = self._go_on_to_the_end()
            self._require(code in COMPLETE, f"not interrupted, it ended with {code}: {running.said()}")
            self._look_at_words(running)
            self.look_at_journal()
        self._require(self.is_complete, f"it ended with {len(self._rows)} of {len(self._ways)} samples")
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
        """What was finished is there, and as it was."""
        now = _rows(self.directory)
        lost = [cell for cell, row in self._rows.items() if now.get(cell) != row]
        self._require(not lost, f"finished samples were lost or changed: {', '.join(lost)}")
        self._rows = now

    def _go_on(self) -> Running:
        resumed = ["resume", self.directory]
        begun = ["run", self._plan, "--out", self.directory]
        return Running(self._folder, resumed if (self.directory / "journal.sqlite").exists() else begun)

    def _go_on_to_the_end(self) -> tuple[Running, int]:
        running = self._go_on()
        return running, running.end()

    def _await_agents(self) -> None:
        found = _within(AGENT_LIMIT_S, lambda: traces.marked(traces.NOTEBOOK, self._folder))
        self._require(not found, f"stays without its notebook: {', '.join(map(str, found))}")

    def _look_at_words(self, running: Running) -> None:
        said = running.said()
        self._require("Traceback" not in said and "panicked" not in said, f"it says:\n{said}")

    def _judge_samples(self) -> None:
        """A sample is what its work makes of it, unless it was hit: its child may be whose end makes it sound."""
        odd = []
        for row in self._rows.values():
            how = Path(row["workload"]).stem
            self.story.append(f"{how}: {row['reason'] or 'valid'}")
            odd += [how] * (bool(row["valid"]) != (how in SOUND))
        self._require(len(odd) <= self._hits, f"not as they should be after {self._hits} interruptions: {odd}")

    def _require(self, condition: bool, what: str) -> None:
        if not condition:
            raise Broken("\n".join([what, *(f"  {line}" for line in self.story)]))


def _within(limit_s: float, look: Callable[[], list[Any]]) -> list[Any]:
    """What is still found then."""
    end = time.monotonic() + limit_s
    while (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def _rows(directory: Path) -> dict[str, dict[str, Any]]:
    """The samples by cell, read as anybody may while they are written."""
    return {row["cell"]: row for row in campaign_rows.rows(directory)}


def _workload(folder: Path, how: str) -> str:
    words = ["sh", str(WORK)]
    return tomli_w.dumps(
        {
            "title": how,
            "description": "A part of the soak.",
            "prepare": [[*words, "prepare", str(folder)]],
            "command": [*words, how, str(folder)],
            "timeout_s": 30,
            "elapsed_headline": True,
            "environment": {traces.WORK: str(folder)},
        }
    )
