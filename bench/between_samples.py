"""How much time passes outside the workload, per sample: from one sample in the journal to the next, less the work.

Under the real clock the work's elapsed time is the wall's and is taken off. Under the virtual clock it is not, but the
work is next to nothing, so all that passes counts as outside it.
"""

import itertools

import figures
import progress

TARGET_S = 1.0
BLOCKS = 10
WORK = "hackbench:groups=1,loops=1"


def outside_s(campaign: progress.Campaign, *, wall: bool) -> list[float]:
    """Seconds outside the workload for every sample but the first, whose start is not seen."""
    passed_s = [after - before for before, after in itertools.pairwise(campaign.finished_s)]
    if not wall:
        return passed_s
    return [each - work for each, work in zip(passed_s, campaign.metric("elapsed_s")[1:], strict=True)]


def main() -> None:
    """One campaign for each clock."""
    print(figures.machine())
    arguments = ["default", "bfs", "--work", WORK, "--on", "lab", "--blocks", str(BLOCKS)]
    real = progress.compare(*arguments, "--clock", "real", "--cpus", "2")
    figures.show("outside the work, real clock", outside_s(real, wall=True), "s a sample", TARGET_S)
    virtual = progress.compare(*arguments, "--clock", "virtual", "--cpus", "1")
    figures.show("outside the work, virtual clock", outside_s(virtual, wall=False), "s a sample", TARGET_S)


if __name__ == "__main__":
    main()
