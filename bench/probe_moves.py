"""By how much each probe moves a difference between two arms, on two CPUs under the virtual clock.

The same plan is taken without probes, with each, and with all: a probe makes other wake-ups happen in another order, so
each is another course of the same work. The lines are the table of docs/probes.md.

usage: bench/probe_moves.py [BLOCKS]
"""

import os
import sys
from typing import Any

import figures
import progress

from runoff.plan.probes import ALL, PROBES

BLOCKS = 10
NOT_HERE = "requests"
"""Probes of arms with an elevator."""
COMPARISONS = (
    (("default", "bfs"), "hackbench:groups=2,loops=20", "time_s"),
    (("cfs:era=2.6.31", "cfs:era=2.6.32"), "counters:n=2,count=20000000,passes=2", "time_s"),
)


def describe_change(arms: tuple[str, str], work: str, metric: str, probe: str | None, blocks: int) -> str:
    """Return the change of the second arm against the first, with its interval, in percent."""
    chosen = ("--probe", probe) if probe else ()
    campaign = progress.compare(
        *arms, "--work", work, *chosen, "--on", "lab", "--clock", "virtual", "--cpus", "2",
        "--blocks", str(blocks), "-j", str(os.cpu_count() or 1),
    )  # fmt: skip
    against = next(_rows(campaign.report, metric, arms[1]))["against_baseline"]
    interval = against["percent_interval"]
    return f"{against['percent']:+.1f} [{interval['low']:+.1f}, {interval['high']:+.1f}]"


def _rows(report: dict[str, Any], metric: str, arm: str) -> Any:
    tables = (table for table in report["tables"] if table["metric"]["name"] == metric)
    return (row for table in tables for row in table["arms"] if row["arm"] == arm)


def main(blocks: int = BLOCKS) -> None:
    print(figures.machine(), flush=True)
    probes = (None, *(name for name in PROBES if name != NOT_HERE), ALL)
    print("| probe | " + " | ".join(f"{arms[1]} against {arms[0]}, {work}" for arms, work, _ in COMPARISONS) + " |")
    for probe in probes:
        cells = [describe_change(arms, work, metric, probe, blocks) for arms, work, metric in COMPARISONS]
        print(f"| {probe or 'none'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
