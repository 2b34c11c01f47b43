"""What each scheduler costs on 1, 2, 4 and 8 CPUs under the virtual clock, in relation to the kernel's own.

A nanosecond is an instruction of each CPU, so the time that the same work takes is the instructions of the CPU that
needs most, waits included. The last lines are the tables of docs/schedulers.

usage: cost_on_cpus.py [WORK...] [CPUS...]; every work on 1, 2, 4 and 8 without. BLOCKS=1 in the environment takes half
of the time.
"""

import os
import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import figures
import progress

from runoff.engines.questions import describe_schedulers

BLOCKS = int(os.environ.get("BLOCKS", "2"))
HERE = Path(__file__).parent
MOST = {"bfs": 1.15}
MOST_OF_OTHERS = 1.10


@dataclass(frozen=True)
class Work:
    """What is done, and what one unit of it takes."""

    words: Callable[[int], str]
    """For ``--work``, by the number of CPUs."""
    cost: Callable[[Mapping[str, float]], float]


WORKS = {
    "hackbench": Work(lambda _: "hackbench:groups=3,loops=20", lambda seen: seen["elapsed_s"]),
    "pipe": Work(lambda _: str(HERE / "pipe.toml"), lambda seen: 1 / seen["round_trips"]),
    "pairs": Work(lambda cpus: f"{HERE / 'pipe.toml'}:pairs={cpus}", lambda seen: 1 / seen["round_trips"]),
    "yield": Work(lambda cpus: f"{HERE / 'yield.toml'}:tasks={2 * cpus}", lambda seen: seen["yield_ns"]),
    # Without locks: the scheduler does not work while a task waits for one.
    "schbench": Work(
        lambda _: "schbench:operations=1,footprint_kb=32,locks=off,warm_up_s=0,seconds=1",
        lambda seen: 1 / seen["requests_per_s"],
    ),
    "counters": Work(lambda cpus: f"counters:n={2 * cpus},count=10000000,passes=2", lambda seen: seen["time_s"]),
}


def measure_costs(work: Work, cpus: int, arms: list[str]) -> dict[str, float]:
    """Return the median of the blocks by arm."""
    campaign = progress.compare(
        *arms, "--work", work.words(cpus), "--on", "lab", "--clock", "virtual", "--cpus", str(cpus),
        "--memory", "1024", "--blocks", str(BLOCKS), "-j", "2",
    )  # fmt: skip
    samples = campaign.report["samples"]
    return {
        arm: statistics.median(work.cost(sample["metrics"]) for sample in samples if sample["arm"] == arm)
        for arm in arms
    }


def main() -> None:
    """A campaign for each work and number of CPUs, then a table for each work."""
    print(figures.machine(), flush=True)
    numbers = [int(word) for word in sys.argv[1:] if word not in WORKS] or [1, 2, 4, 8]
    works = {name: work for name, work in WORKS.items() if name in sys.argv[1:]} or WORKS
    arms = ["default", *sorted(describe_schedulers())]
    for name, work in works.items():
        found = [measure_costs(work, cpus, arms) for cpus in numbers]
        print(f"\n| {name} | {' | '.join(map(str, numbers))} |")
        for arm in arms[1:]:
            ratios = [each[arm] / each["default"] for each in found]
            most = MOST.get(arm, MOST_OF_OTHERS)
            missed = "" if max(ratios) <= most else f"; target {most:.2f}: MISSED"
            print(f"| `{arm}` | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |{missed}", flush=True)


if __name__ == "__main__":
    main()
