"""Samples a minute of the lab under the virtual clock, here and on workers of this machine.

usage: bench/cluster_cells.py [BLOCKS]
"""

import sys

import figures
import progress

WORK = ("default", "bfs", "--work", "hackbench:groups=2,loops=20", "--cpus", "1", "--memory", "512")
BLOCKS = 20
MANNERS = (("-j", "1"), ("--cluster", "local:1"), ("-j", "2"), ("--cluster", "local:2"))


def measure_rate(execution: tuple[str, ...], blocks: int) -> tuple[float, float]:
    """Return samples a minute between the first and the last, and the seconds before the first."""
    campaign = progress.compare(*WORK, "--clock", "virtual", "--blocks", str(blocks), *execution)
    finished = campaign.finished_s
    return 60 * (len(finished) - 1) / (finished[-1] - finished[0]), finished[0]


def main() -> None:
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else BLOCKS
    print(f"cluster cells: {figures.machine()}", flush=True)
    # Guests are booted, and stored, before anything is measured.
    measure_rate(MANNERS[0], 1)
    for execution in MANNERS:
        rate, first_s = measure_rate(execution, blocks)
        print(f"{' '.join(execution)}: {rate:.1f} samples a minute, the first after {first_s:.1f} s", flush=True)


if __name__ == "__main__":
    main()
