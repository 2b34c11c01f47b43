"""How long a sample of each workload takes in the lab, with its own parameters, under the virtual clock on two CPUs.

usage: bench/sample_times.py [WORKLOAD ...]

It is the time between the samples of a campaign of two blocks, so the boot of its guest is not in it. runoff tells
these figures (python/runoff/workloads/lab_times.py) before a campaign has any of its own.
"""

import sys
from itertools import pairwise

import figures
import progress

from runoff.workloads import WORKLOADS

ANY_COMMAND = "command"


def main() -> None:
    """One campaign for each workload."""
    print(figures.machine())
    for work in sys.argv[1:] or sorted(set(WORKLOADS.names()) - {ANY_COMMAND}):
        campaign = progress.compare(
            "default", "--work", work, "--on", "lab", "--clock", "virtual", "--cpus", "2", "--blocks", "2"
        )
        figures.show(work, [after - before for before, after in pairwise(campaign.finished_s)], "s a sample")


if __name__ == "__main__":
    main()
