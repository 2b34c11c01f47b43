"""A campaign in the lab under the virtual clock: after any interruptions it has the figures of one without."""

from functools import cached_property
from pathlib import Path
from typing import Any

from processes import children

from soak import traces
from soak.campaign import Campaign, rows
from soak.running import Running

PLAN = {
    "arms": ["default", "bfs"],
    "workloads": ["counters:n=1,count=2000000,passes=1"],
    "on": "lab",
    "clock": "virtual",
    "cpus": 1,
    "blocks": 2,
    "seed": 3,
}
SAMPLES = 4
KEPT = {"console.txt", "qemu.txt", "orders.json"}
"""Files of each guest that are kept: its orders and its output."""


class LabCampaign(Campaign):
    """A campaign of four samples, each with a guest of its own."""

    def __init__(self, folder: Path, name: str, reference: "LabCampaign | None", machine: traces.Machine) -> None:
        super().__init__(folder, f"lab-{name}", PLAN, SAMPLES, machine)
        self._reference = reference
        self.story.append("in the lab")

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The metrics of its valid samples, by cell."""
        return {cell: row["metrics"] for cell, row in self._rows.items() if row["valid"]}

    def _run(self, words: list[str | Path]) -> Running:
        before = len(rows(self.directory))
        running = Running(
            self._folder,
            words,
            lambda: len(rows(self.directory)) - before + bool(children(running.process.pid)),
        )
        return running

    def _judge_samples(self) -> None:
        void = [row["reason"] for row in self._rows.values() if not row["valid"]]
        self._require(len(void) <= self._hits, f"void after {self._hits} interruptions: {void}")
        if self._reference is not None:
            expected = self._reference.figures
            other = [cell for cell, found in self.figures.items() if found != expected[cell]]
            self._require(not other, f"other figures than without interruptions: {other}")
        guests = (self.directory / "guests").glob("*/*")
        left = [str(file) for file in guests if file.name not in KEPT]
        self._require(not left, f"of guests there is still: {left}")
