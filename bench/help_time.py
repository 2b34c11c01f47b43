"""How long `runoff --help` takes, from the start of the process to its end."""

import subprocess
import time

import figures
import progress

TARGET_S = 0.3
RUNS = 30


def time_once() -> float:
    """Wall time of one call in seconds."""
    start_s = time.perf_counter()
    subprocess.run([*progress.program(), "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start_s


def main() -> None:
    """The first call is left out: it fills the page cache."""
    print(figures.machine())
    time_once()
    figures.show("runoff --help", [time_once() for _ in range(RUNS)], "s", TARGET_S)


if __name__ == "__main__":
    main()
