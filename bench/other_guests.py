"""What an interval of the virtual clock covers: other guests that differ in what should not matter.

Each guest has 8 MiB more memory than the one before and an agent of another digest, so that pages, caches of the kernel
and phases fall otherwise. The same plan is taken in each. A comparison holds if its interval has the mean change of all
guests in it; the mean is geometric, as the report's change is. What each guest found is kept in build/other_guests,
and is not taken again when the program is started anew.

usage: bench/other_guests.py [GUESTS [BLOCKS]]
"""

import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import figures
import progress

from runoff.engines.agent import find_agent

GUESTS = 20
BLOCKS = 10
TARGET = 0.9
KEPT = Path(__file__).resolve().parents[1] / "build/other_guests"
LEAST_MB = 512
STEP_MB = 8
WORKS = (
    "hackbench:groups=2,loops=20",
    "counters:n=2,count=2000000",
    "schbench:workers=4,operations=1,footprint_kb=32,warm_up_s=0,seconds=1",
)
ARMS = ("default", "bfs", "cfs:era=2.6.31", "cfs:era=2.6.32", "cfs")

Place = tuple[str, str, str]
"""Workload, metric and arm."""


@dataclass(frozen=True, slots=True)
class Found:
    """One comparison in one guest, as logarithms of the ratio to the baseline."""

    change: float
    low: float
    high: float


def find_or_take(guest: int, blocks: int, folder: Path) -> Mapping[Place, Found]:
    """Return the headline comparisons in one guest, which may be kept from before."""
    kept = KEPT / f"{guest}-{blocks}.json"
    if kept.exists():
        return {tuple(place): Found(*found) for place, found in json.loads(kept.read_text())}
    taken = take(guest, blocks, folder)
    KEPT.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps([(place, (each.change, each.low, each.high)) for place, each in taken.items()]))
    return taken


def take(guest: int, blocks: int, folder: Path) -> Mapping[Place, Found]:
    """Return the headline comparisons in one guest."""
    agent = folder / f"agent-{guest}"
    shutil.copy(find_agent(), agent)
    with agent.open("ab") as file:
        file.write(bytes(guest))
    works = [word for work in WORKS for word in ("--work", work)]
    machine = ("--clock", "virtual", "--cpus", "2", "--memory", str(LEAST_MB + STEP_MB * guest))
    plan = (*ARMS, *works, *machine, "--blocks", str(blocks), "-j", str(os.cpu_count() or 1))
    os.environ["RUNOFF_AGENT"] = str(agent)
    try:
        campaign = progress.compare(*plan)
    finally:
        del os.environ["RUNOFF_AGENT"]
    return dict(list_comparisons(campaign.report))


def list_comparisons(report: Mapping[str, Any]) -> Iterator[tuple[Place, Found]]:
    for table in report["tables"]:
        for row in table["arms"] if table["metric"]["headline"] else ():
            against = row["against_baseline"]
            interval = against["percent_interval"]
            if interval is not None:
                ends = (against["percent"], interval["low"], interval["high"])
                place = (table["workload"], table["metric"]["name"], row["arm"])
                yield place, Found(*(math.log1p(percent / 100) for percent in ends))


def to_percent(log: float) -> float:
    return 100 * math.expm1(log)


def main(guests: int = GUESTS, blocks: int = BLOCKS) -> None:
    print(f"other guests: {figures.machine()}", flush=True)
    found: dict[Place, list[Found]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for guest in range(guests):
            for place, each in find_or_take(guest, blocks, Path(folder)).items():
                found.setdefault(place, []).append(each)
            print(f"guest {guest + 1} of {guests}", file=sys.stderr, flush=True)
    held = told = 0
    for (work, metric, arm), mine in found.items():
        mean = statistics.fmean(each.change for each in mine)
        inside = sum(each.low <= mean <= each.high for each in mine)
        held, told = held + inside, told + len(mine)
        spread = 100 * statistics.stdev(each.change for each in mine)
        half = 100 * statistics.median((each.high - each.low) / 2 for each in mine)
        print(
            f"{work}, {metric}, {arm}: mean {to_percent(mean):+.1f} %, SD between guests {spread:.2f} points, half an "
            f"interval {half:.2f} points, {inside} of {len(mine)} intervals hold the mean"
        )
    verdict = "met" if held >= TARGET * told else "MISSED"
    print(f"all: {held} of {told} intervals hold the mean of all ({held / told:.1%}); target {TARGET:.0%}: {verdict}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
