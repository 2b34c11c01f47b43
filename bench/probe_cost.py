"""What each probe costs in instructions, in hackbench, in relation to the same without one.

Under the virtual clock a nanosecond is an instruction, and hackbench keeps its one CPU busy, so elapsed time is nearly
all instructions. The last lines are the table of docs/probes.md. One CPU says nothing about what CPUs share: of the
probes only idle writes to memory that all of them write to.
"""

import statistics

import figures
import progress

from runoff.engines.questions import describe_metrics
from runoff.plan.probes import ALL, PROBES

ARMS = ("default", "bfs")
GROUPS = 10
LOOPS = 40
CONNECTIONS = 20
MESSAGES = GROUPS * CONNECTIONS * CONNECTIONS * LOOPS
BLOCKS = 1


def run_campaign(*probes: str) -> progress.Campaign:
    """Return all arms with these probes."""
    chosen = [word for name in probes for word in ("--probe", name)]
    return progress.compare(
        *ARMS, "--work", f"hackbench:groups={GROUPS},loops={LOOPS}", *chosen,
        "--on", "lab", "--clock", "virtual", "--cpus", "1", "--blocks", str(BLOCKS), "-j", "2",
    )  # fmt: skip


def main() -> None:
    """One campaign without probes, one with each, one with all; then the table."""
    print(figures.machine())
    (cost,) = describe_metrics().probe_cost
    found: dict[tuple[str, str], float] = {}
    for name in ("none", *PROBES, ALL):
        seen = run_campaign(*([] if name == "none" else [name]))
        for arm in ARMS:
            each = [elapsed_s * 1e9 / MESSAGES for elapsed_s in seen.metric("elapsed_s", arm)]
            figures.show(f"{name}, {arm}, per message", each, "instructions")
            found[name, arm] = statistics.median(each)
            if name not in ("none", "scheduler"):
                figures.show(f"{name}, {arm}, {cost.title}", seen.metric(cost.name, arm), cost.unit)
    for name in (*PROBES, ALL):
        ratios = [found[name, arm] / found["none", arm] for arm in ARMS]
        print(f"| `{name}` | {' | '.join(f'{100 * (ratio - 1):+.1f} %' for ratio in ratios)} |")


if __name__ == "__main__":
    main()
