"""How long a user waits for the first sample: from the command to the sample in the journal, with the kernel cached.

The work is next to nothing, so this is the start of Python, the proof that each scheduler can be attached, the boots
of the guests, the wait until they are quiet, and the attachment.
"""

import figures
import progress

TARGET_S = 12.0
RUNS = 3
WORK = "counters:n=1,count=1000,passes=1"
"""Needs no image: the smallest guest there is."""
CLOCKS = {"real": ["--clock", "real", "--cpus", "2"], "virtual": ["--clock", "virtual", "--cpus", "2"]}


def main() -> None:
    """Both clocks; the first run is left out: it fills the page cache and may try KVM."""
    print(figures.machine())
    for clock, options in CLOCKS.items():
        arguments = ["default", "bfs", "--work", WORK, "--on", "lab", *options, "--blocks", "1"]
        progress.compare(*arguments)
        first_s = [progress.compare(*arguments).finished_s[0] for _ in range(RUNS)]
        figures.show(f"first sample, {clock} clock", first_s, "s", TARGET_S)


if __name__ == "__main__":
    main()
