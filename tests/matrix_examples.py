"""A matrix of kernels in which arms work and fail."""

from dataclasses import replace

from runoff.matrix.values import Entry, KernelMatrix
from runoff.statistics import Comparison, Interval, Verdict

SPEED = Comparison("bfs", n=5, log_mean=0.02, log_interval=Interval(0.01, 0.03), verdict=Verdict.WORSE)
GOOD = Entry("debian:6.18", "bfs", stressed_s=120.0, longest_wait_ms=21.5, speed=SPEED)
MATRIX = KernelMatrix(
    kernels=("debian:6.18", "debian:7.2"),
    arms=("bfs", "./mine.bpf.o"),
    entries=(
        GOOD,
        Entry(
            "debian:6.18", "./mine.bpf.o", refused="the kernel rejected it:\x1b[31m red", detail="R1 type=scalar\nend"
        ),
        replace(GOOD, kernel="debian:7.2", speed=replace(SPEED, verdict=Verdict.UNCLEAR)),
        Entry("debian:7.2", "./mine.bpf.o", stress="ejected | runnable task stall"),
    ),
    seconds=120,
    work="hackbench",
    clock="virtual",
)
