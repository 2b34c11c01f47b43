"""Scenes of `runoff-agent scene` in a guest under a scheduler: what each of their actors saw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from copies import LIMIT_S, Copies
from hogs import described

from runoff.engines.outcome import Outcome, ValidSample

NOTES = ("first_ms", "cpu_s", "late_mean_ms", "late_max_ms", "run_mean_ms", "run_max_ms", "longest_gap_ms")
ON_FOR_EVER = "busy 3600000"


@dataclass(frozen=True)
class Scene:
    """The scripts of a scene, and the actors whose notes are wanted."""

    scripts: Sequence[str]
    wanted: Sequence[str]
    """Actors by name; of several of one script by name and number."""
    seconds: float = 5
    parameters: Mapping[str, str] = field(default_factory=dict)
    prepare: Sequence[Sequence[str]] = ()
    root: str | None = None

    def request(self, scheduler: str) -> dict[str, Any]:
        extract = [
            {"metric": f"{actor}.{note}", "find": {"pattern": rf'"{actor}":\{{[^{{}}]*"{note}":([0-9.eE+-]+)'}}
            for actor in self.wanted
            for note in NOTES
        ]
        return {
            "type": "sample",
            "id": scheduler,
            "scheduler": described(scheduler, self.parameters),
            "workload": {
                "name": "scene",
                "root": self.root,
                "prepare": [list(command) for command in self.prepare],
                "command": ["runoff-agent", "scene", f"lasts {self.seconds}s", *self.scripts],
                "environment": {},
                "timeout_s": LIMIT_S,
                "extract": extract,
            },
        }


def play(copies: Copies, scheduler: str, scene: Scene) -> dict[str, float]:
    """The notes by `ACTOR.NOTE`."""
    outcome: Outcome = copies.take(scene.request(scheduler))
    assert isinstance(outcome, ValidSample), outcome
    return dict(outcome.metrics)
