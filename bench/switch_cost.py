"""What a context switch costs in instructions, the kernel's own scheduler against bfs, in hackbench.

Under the virtual clock a nanosecond is an instruction. hackbench keeps its one CPU busy, so its elapsed time is
nearly all instructions: those that pass the message, wake the receiver, choose it and switch to it. The work is the
same for both arms; the difference belongs to the scheduler.
"""

import statistics

import figures
import progress

ARMS = ("default", "bfs")
BLOCKS = 5
GROUPS, LOOPS, CONNECTIONS = 2, 100, 20
MESSAGES = GROUPS * CONNECTIONS * CONNECTIONS * LOOPS
"""A sender of a group writes every loop to each of the group's receivers."""


def main() -> None:
    """One campaign; a line for each arm and one for what bfs adds."""
    print(figures.machine())
    work = f"hackbench:groups={GROUPS},loops={LOOPS}"
    campaign = progress.compare(
        *ARMS, "--work", work, "--on", "lab", "--clock", "virtual", "--cpus", "1", "--blocks", str(BLOCKS)
    )
    means = {}
    for arm in ARMS:
        instructions = [elapsed_s * 1e9 for elapsed_s in campaign.metric("elapsed_s", arm)]
        switches = [
            voluntary + involuntary
            for voluntary, involuntary in zip(
                campaign.metric("voluntary_switches", arm), campaign.metric("involuntary_switches", arm), strict=True
            )
        ]
        figures.show(f"{arm}, per message", [each / MESSAGES for each in instructions], "instructions")
        each_switch = [all_ / number for all_, number in zip(instructions, switches, strict=True)]
        figures.show(f"{arm}, per context switch", each_switch, "instructions")
        figures.show(f"{arm}, context switches per message", [each / MESSAGES for each in switches], "switches")
        means[arm] = statistics.mean(instructions)
    print(f"bfs needs {100 * (means['bfs'] / means['default'] - 1):+.1f} % instructions for the same work")


if __name__ == "__main__":
    main()
