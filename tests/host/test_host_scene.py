"""What the actors of a scene report of themselves agrees with the kernel's account of them."""

import itertools
import json
import os
import subprocess
from typing import Any

import pytest
from waiting import LIMIT_S

from runoff.engines.agent import find_agent

pytestmark = pytest.mark.host

SECONDS = 1.5
NAP_MS, BURST_MS = 30, 2
SCRIPTS = {
    "first": "busy 3600000",
    "second": "busy 3600000",
    "third": "nice 10, busy 3600000",
    "napper": f"nice 5, repeat, sleep {NAP_MS}, run {BURST_MS}",
}
HOGS = ("first", "second", "third")

Timeline = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Timeline]:
    """The notes and the timelines of actors that share a CPU."""
    file = tmp_path_factory.mktemp("scene") / "timeline"
    cpu = min(os.sched_getaffinity(0))
    scripts = [f"{name}: on {cpu}, {steps}" for name, steps in SCRIPTS.items()]
    command = [find_agent(), "scene", f"--timeline={file}", f"lasts {SECONDS}s", *scripts]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (line,) = file.read_text().splitlines()
    return report["actors"], json.loads(line)["timeline"]


def test_the_timeline_has_every_actor(taken) -> None:
    notes, timelines = taken
    assert set(timelines) == set(notes) == set(SCRIPTS)
    assert all(timeline["lost"] == 0 for timeline in timelines.values())


def test_runs_are_in_order_and_in_time(taken) -> None:
    _, timelines = taken
    for timeline in timelines.values():
        flat = [edge for start, end, _ in timeline["runs"] for edge in (start, end)]
        assert flat == sorted(flat)
        assert flat[0] >= 0
        assert flat[-1] <= 1000 * SECONDS + 1


def test_runs_are_the_cpu_time_that_the_kernel_counted(taken) -> None:
    notes, timelines = taken
    for name in HOGS:
        there_s = sum(end - start for start, end, _ in timelines[name]["runs"]) / 1000
        assert there_s == pytest.approx(notes[name]["cpu_s"], rel=0.1, abs=0.01)


def test_no_two_are_on_the_cpu_at_once(taken) -> None:
    _, timelines = taken
    runs = sorted((start, end) for timeline in timelines.values() for start, end, _ in timeline["runs"])
    overlap_ms = sum(max(0.0, first[1] - second[0]) for first, second in itertools.pairwise(runs))
    assert overlap_ms < 1.0


def test_the_napper_naps_and_works_as_asked(taken) -> None:
    notes, timelines = taken
    waits = timelines["napper"]["waits"]
    assert len(waits) == notes["napper"]["wakes"] > 0
    assert all(ran >= due for due, ran in waits)
    late_ms = sum(ran - due for due, ran in waits) / len(waits)
    assert late_ms == pytest.approx(notes["napper"]["late_mean_ms"], abs=0.01)
    used_ms = sum(end - start for start, end, _ in timelines["napper"]["runs"])
    assert used_ms == pytest.approx(BURST_MS * len(waits), rel=0.15)


def test_a_file_that_cannot_be_written_is_named_at_once() -> None:
    command = [find_agent(), "scene", "--timeline=/nowhere/at/all", "lasts 60s", "hog: busy 60000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert "cannot open /nowhere/at/all" in done.stderr
