"""What hogs report of themselves agrees with the kernel's account of them."""

import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runoff.engines.agent import find_agent

pytestmark = pytest.mark.host

SECONDS = 1.5
NAP_MS, BURST_MS = 30, 2


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The report and the rows of the timeline of three hogs and a sleeper on one CPU."""
    file = tmp_path_factory.mktemp("hogs") / "timeline"
    cpu = min(os.sched_getaffinity(0))
    command = [find_agent(), "hogs", "--nice=0,0,10", f"--seconds={SECONDS}", f"--cpu={cpu}", f"--timeline={file}",
               f"--sleeper-ms={NAP_MS}", f"--burst-ms={BURST_MS}", "--sleeper-nice=5"]  # fmt: skip
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (line,) = file.read_text().splitlines()
    return report, json.loads(line)["timeline"]


def test_the_timeline_names_every_process(taken) -> None:
    _, rows = taken
    assert [(row["task"], row["nice"]) for row in rows] == [("hog", 0), ("hog", 0), ("hog", 10), ("sleeper", 5)]
    assert all(row["complete"] for row in rows)


def test_intervals_are_in_order_and_in_time(taken) -> None:
    _, rows = taken
    for row in rows:
        flat = [edge for interval in row["intervals"] for edge in interval]
        assert flat == sorted(flat)
        assert flat[0] >= 0
        assert flat[-1] <= 1000 * SECONDS


def test_intervals_are_the_cpu_time_that_the_kernel_counted(taken) -> None:
    report, rows = taken
    for hog, row in zip(report["hogs"], rows[:-1], strict=True):
        there_s = sum(end - start for start, end in row["intervals"]) / 1000
        assert there_s == pytest.approx(hog["cpu_s"], rel=0.1, abs=0.01)


def test_no_two_are_on_the_cpu_at_once(taken) -> None:
    _, rows = taken
    intervals = sorted(tuple(interval) for row in rows for interval in row["intervals"])
    overlap_ms = sum(max(0.0, first[1] - second[0]) for first, second in itertools.pairwise(intervals))
    assert overlap_ms < 1.0


def test_the_sleeper_naps_and_works_as_asked(taken) -> None:
    report, rows = taken
    wakes = rows[-1]["wakes"]
    assert len(wakes) == report["sleeper"]["wakeups"]
    assert all(woke >= due for due, woke in wakes)
    late_ms = sum(woke - due for due, woke in wakes) / len(wakes)
    assert late_ms == pytest.approx(report["sleeper"]["mean_us"] / 1000, abs=0.01)
    used_ms = sum(end - start for start, end in rows[-1]["intervals"])
    assert used_ms == pytest.approx(BURST_MS * len(wakes), rel=0.1)


def test_a_file_that_cannot_be_written_is_named_at_once() -> None:
    command = [find_agent(), "hogs", "--seconds=60", "--timeline=/nowhere/at/all"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 1
    assert f"cannot open {Path('/nowhere/at/all')}" in done.stderr
