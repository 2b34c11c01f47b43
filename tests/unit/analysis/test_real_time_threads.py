"""Threads that were never the scheduler's are told with the verdict."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis.build import build_report
from runoff.campaign.journal.records import ProvenThreads
from runoff.report.words.campaign_warnings import describe_campaign
from runoff.results import Results, Threads


def taken(*arms: str) -> Results:
    cells = {work: {arm: (10.0 + n, 0.1) for n, arm in enumerate(arms)} for work in ("w", "x")}
    metrics = {work: {arm: {"elapsed_s": value} for arm, value in each.items()} for work, each in cells.items()}
    return examples.campaign(metrics, dict.fromkeys(cells, (examples.WALL,)), blocks=6)


def tell(results: Results, threads: Mapping[tuple[str, str], Threads]) -> list[str]:
    """The sentences about a campaign whose first sample of each arm in a work had these threads."""
    samples = [
        replace(each, threads=threads.get((each.arm, each.workload), Threads()) if each.block == 0 else Threads(7, 1))
        if (each.arm, each.workload) in threads
        else each
        for each in results.samples
    ]
    report = build_report(replace(results, samples=tuple(samples)))
    return [sentence for sentence in describe_campaign(report) if "real-time" in sentence]


def test_the_largest_share_is_told_with_all_arms_that_had_some() -> None:
    threads = {("cfs", "w"): Threads(5, 2), ("bfs", "w"): Threads(40, 3), ("bfs", "x"): Threads(2, 2)}
    found = tell(taken("default", "bfs", "cfs"), threads)
    assert found == [
        "w: up to 2 of 5 threads that were looked at were real-time ones, which were never the scheduler's under bfs, "
        "cfs: no sched_ext scheduler decides about them",
        "x: up to 2 of 2 threads that were looked at were real-time ones, which were never the scheduler's under bfs: "
        "no sched_ext scheduler decides about them",
    ]


def test_nothing_is_said_of_work_without_any() -> None:
    assert tell(taken("default", "bfs"), {}) == []
    results = taken("default", "bfs")
    samples = tuple(replace(each, threads=Threads(9, 0)) for each in results.samples)
    report = build_report(replace(results, samples=samples))
    assert [sentence for sentence in describe_campaign(report) if "real-time" in sentence] == []


def test_void_samples_say_nothing() -> None:
    results = taken("default", "bfs")
    samples = tuple(replace(each, threads=Threads(2, 2), valid=False, reason="x") for each in results.samples)
    report = build_report(replace(results, samples=samples))
    assert [sentence for sentence in describe_campaign(report) if "real-time" in sentence] == []


@pytest.mark.parametrize(
    ("proof", "seen", "realtime"),
    [
        ({}, 0, 0),
        ({"threads_checked": 3}, 3, 0),
        ({"threads_checked": 3, "threads_realtime": 2, "threads_unjudged": 1, "object": ""}, 6, 2),
    ],
)
def test_the_counts_are_those_of_the_proof(proof: dict[str, object], seen: int, realtime: int) -> None:
    counts = ProvenThreads.model_validate(proof)
    assert counts.threads_checked + counts.threads_realtime + counts.threads_unjudged == seen
    assert counts.threads_realtime == realtime
