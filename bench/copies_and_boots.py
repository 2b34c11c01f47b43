"""Whether samples in copies of a kept guest differ from samples in guests that are booted: in their means and spread.

The same plan with the same seeds, once with copies and once with a boot for each sample (boots.py).
"""

import os
import sys
from pathlib import Path

import figures
import numpy as np
import progress
from scipy import stats

BLOCKS = 20
ARMS = ["default", "bfs"]
METRICS = {"hackbench:groups=10,loops=20": "time_s", "counters:n=3,passes=3": "time_s"}
MOST_OFF_PCT = 0.5
ALPHA = 0.05


def measure() -> progress.Campaign:
    works = [word for work in METRICS for word in ("--work", work)]
    return progress.compare(*ARMS, *works, "--clock", "virtual", "--cpus", "2", "--blocks", str(BLOCKS), "-j", "2")


def list_values(campaign: progress.Campaign, arm: str, work: str) -> np.ndarray:
    """By block."""
    found = [
        each["metrics"][METRICS[work]]
        for each in campaign.report["samples"]
        if (each["arm"], each["workload"]) == (arm, work)
    ]
    return np.array(found)


def main() -> None:
    """Welch's interval of the means' difference, and Brown and Forsythe's test of the spread."""
    print(figures.machine())
    copies = measure()
    os.environ["RUNOFF"] = f"{sys.executable} {Path(__file__).with_name('boots.py')}"
    boots = measure()
    for work in METRICS:
        for arm in ARMS:
            ours, theirs = list_values(copies, arm, work), list_values(boots, arm, work)
            test = stats.ttest_ind(ours, theirs, equal_var=False)
            low, high = (100 * limit / theirs.mean() for limit in test.confidence_interval(1 - ALPHA))
            spread = stats.levene(ours, theirs, center="median").pvalue
            off_pct = 100 * (ours.mean() / theirs.mean() - 1)
            missed = "" if abs(off_pct) <= MOST_OFF_PCT else ": MISSED"
            off = f"{off_pct:+.2f} % (95 % {low:+.2f} to {high:+.2f}; target {MOST_OFF_PCT} %{missed})"
            spreads = f"SD {ours.std(ddof=1):.3g} and {theirs.std(ddof=1):.3g} s (p {spread:.2g})"
            print(f"{work}, {arm}: copies to boots {off}; {spreads}", flush=True)


if __name__ == "__main__":
    main()
