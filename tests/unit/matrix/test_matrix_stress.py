"""What a sample of stress says of an arm."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.matrix.conduct import read_stress
from runoff.matrix.values import Entry
from runoff.results import Sample

ENTRY = Entry("debian:7.2", "bfs")
FINE = {"lost": 0.0, "unfinished": 0.0, "longest_normal_wait_ms": 12.5}


def sample(metrics: dict[str, float], reason: str | None = None) -> Sample:
    return Sample("a", 0, 0, "bfs", "stress", "", reason is None, reason, metrics, detail="log" if reason else "")


def read(found: Sample) -> Entry:
    results = replace(examples.two_arms(), samples=(found,))
    return read_stress(ENTRY, results, 120)


def test_an_arm_that_kept_all_tasks_has_survived():
    entry = read(sample(FINE))
    assert (entry.has_failed, entry.stressed_s, entry.longest_wait_ms) == (False, 120.0, 12.5)
    assert not entry.is_complete


@pytest.mark.parametrize("what", ["lost", "unfinished"])
def test_a_lost_task_is_a_failure(what: str):
    entry = read(sample(FINE | {what: 1.0}))
    assert (entry.has_failed, entry.stressed_s) == (True, None)
    assert ("1 tasks were lost" if what == "lost" else "1 did not end in time") in entry.stress


def test_an_ejected_arm_has_failed_with_the_kernels_log():
    entry = read(sample({}, "scheduler bfs was ejected during the run"))
    assert (entry.stress, entry.detail) == ("scheduler bfs was ejected during the run", "log")


def test_an_arm_whose_sample_is_still_to_come_is_not_complete():
    entry = read(replace(sample(FINE), arm="other"))
    assert (entry.has_failed, entry.is_complete) == (False, False)
