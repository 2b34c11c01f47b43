"""A campaign on this machine, whose work does what work must not."""

from pathlib import Path
from random import Random

import tomli_w

from soak import traces
from soak.campaign import Campaign
from soak.running import Running

SOUND = ("files", "nested", "mounts", "loud")
"""Valid, unless its sample is interrupted."""
ROUGH = ("mounted", "daemon", "frozen", "leaver", "apart", "covers", "flood")
"""Void, and nothing of it is left."""
WORK = Path(__file__).with_name("work.sh")


class HostCampaign(Campaign):
    """A campaign of four samples, two of them void by their work; some have the disk's elevator or five settings."""

    def __init__(self, folder: Path, seed: int, draw: Random, machine: traces.Machine) -> None:
        ways = draw.sample(SOUND, 2) + draw.sample(ROUGH, 2)
        works = [folder / f"{how}.toml" for how in ways]
        for how, path in zip(ways, works, strict=True):
            path.write_text(_workload(folder, how))
        plan = {"arms": ["default"], "workloads": list(map(str, works)), "on": "host", "blocks": 1, "seed": seed}
        if machine.disk is not None and draw.random() < 0.4:
            plan |= {"arms": [f"default+io={draw.choice(machine.disk.elevators)}"], "place": str(machine.disk.place)}
        elif draw.random() < 0.5:
            plan["arms"] = ["default" + "".join(f"+{name}={value}" for name, value in traces.SETTINGS.items())]
        super().__init__(folder, str(seed), plan, len(ways), machine)
        self.story.append(f"{plan['arms']} on {', '.join(ways)}")

    def _run(self, words: list[str | Path]) -> Running:
        started = self._folder / "started"
        started.unlink(missing_ok=True)
        return Running(self._folder, words, lambda: len(started.read_text().splitlines()) if started.exists() else 0)

    def _judge_samples(self) -> None:
        """A sample is what its work makes of it, unless it was hit: its child may be whose end makes it sound."""
        odd = []
        for row in self._rows.values():
            how = Path(row["workload"]).stem
            self.story.append(f"{how}: {row['reason'] or 'valid'}")
            odd += [how] * (bool(row["valid"]) != (how in SOUND))
        self._require(len(odd) <= self._hits, f"not as they should be after {self._hits} interruptions: {odd}")


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
