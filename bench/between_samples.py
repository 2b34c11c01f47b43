"""How much time passes outside the workload, per sample: from one sample in the journal to the next, less the work.

Under the real clock the work's elapsed time is the wall's and is taken off. Under the virtual clock it is not, but the
work is next to nothing, so all that passes counts as outside it.
"""

import itertools

import figures
import progress

TARGET_S = 1.0
BLOCKS = 5
WORK = "counters:n=1,count=1000,passes=1"
"""Needs no image: the smallest guest there is."""


def list_outside_s(campaign: progress.Campaign, *, wall: bool) -> dict[str, list[float]]:
    """Return seconds outside the workload by arm, for every sample but the first, whose start is not seen."""
    by_arm: dict[str, list[float]] = {}
    for (before, after), sample in zip(
        itertools.pairwise(campaign.finished_s), campaign.report["samples"][1:], strict=True
    ):
        work_s = sample["metrics"]["elapsed_s"] if wall else 0.0
        by_arm.setdefault(sample["arm"], []).append(after - before - work_s)
    return by_arm


def main() -> None:
    """One campaign for each clock."""
    print(figures.machine())
    arguments = ["default", "bfs", "--work", WORK, "--on", "lab", "--blocks", str(BLOCKS)]
    for clock in ("real", "virtual"):
        campaign = progress.compare(*arguments, "--clock", clock, "--cpus", "2")
        for arm, values in list_outside_s(campaign, wall=clock == "real").items():
            figures.show(f"outside the work, {clock} clock, {arm}", values, "s a sample", TARGET_S)


if __name__ == "__main__":
    main()
