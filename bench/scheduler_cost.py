"""What each scheduler costs in instructions, in hackbench, in relation to the kernel's own.

Under the virtual clock a nanosecond is an instruction. hackbench keeps its one CPU busy, so its elapsed time is
nearly all instructions: those that pass a message, wake the receiver, choose it and switch to it. The work is the
same for all arms; the difference belongs to the scheduler. The last lines are the table of docs/schedulers.
"""

import statistics

import figures
import progress

from runoff.engines.questions import describe_schedulers

VARIANTS = ("o1:era=2.6.20", "zaphod:mode=eb", "hydra:mode=pb", "hydra:mode=eb", "cfs:era=2.6.31")
BLOCKS = 2
CONNECTIONS = 20
WORKS = {10: 20, 100: 5}
"""Groups, and loops of each sender: 80,000 and 200,000 messages."""
MEMORY_MB = "3072"
"""4,000 processes fit."""
MOST = {"bfs": 1.15}
MOST_OF_OTHERS = 1.10
"""Times default's; one queue for all CPUs may cost a little more."""


def instructions(groups: int, loops: int, arms: list[str]) -> dict[str, float]:
    """Per message, the median of the blocks; prints a line for each arm."""
    messages = groups * CONNECTIONS * CONNECTIONS * loops
    work = f"hackbench:groups={groups},loops={loops}"
    campaign = progress.compare(
        *arms, "--work", work, "--on", "lab", "--clock", "virtual", "--cpus", "1", "--memory", MEMORY_MB,
        "--blocks", str(BLOCKS), "-j", "2",
    )  # fmt: skip
    found = {}
    for arm in arms:
        each = [elapsed_s * 1e9 / messages for elapsed_s in campaign.metric("elapsed_s", arm)]
        figures.show(f"{groups} groups, {arm}, per message", each, "instructions")
        found[arm] = statistics.median(each)
    return found


def main() -> None:
    """One campaign for each number of groups, then the table."""
    print(figures.machine())
    arms = sorted([*describe_schedulers(), *VARIANTS])
    found = {groups: instructions(groups, loops, ["default", *arms]) for groups, loops in WORKS.items()}
    for arm in ["default", *arms]:
        ratios = [each[arm] / each["default"] for each in found.values()]
        most = MOST.get(arm, MOST_OF_OTHERS)
        missed = "" if max(ratios) <= most else f"; target {most:.2f}: MISSED"
        print(f"| `{arm}` | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |{missed}")


if __name__ == "__main__":
    main()
