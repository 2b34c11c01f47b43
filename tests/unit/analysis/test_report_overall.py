"""When a report has a geometric mean over its workloads, and what it says where it has none."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report import markdown
from runoff.report.data import document
from runoff.report.html import page
from runoff.report.terminal import screen
from runoff.report.words.rows import list_run_rows
from runoff.results import Metric

CELL = {arm: {"elapsed_s": (mean, 0.1), "rate": (mean, 0.1)} for arm, mean in (("default", 10), ("a", 12))}


def taken(**metrics: Metric):
    works = dict.fromkeys(metrics, CELL)
    return examples.campaign(works, {work: (metric,) for work, metric in metrics.items()}, blocks=6)


def test_two_workloads_have_one():
    report = build.build_report(taken(v=examples.WALL, w=examples.WALL))
    assert report.overall.analysis.comparisons["a"].percent == pytest.approx(20, abs=2)
    assert report.overall.over == "elapsed time over 2 workloads"
    for view in (screen.render(report, 80), page.render(report), markdown.render(report)):
        assert "geometric mean of the changes: elapsed time over 2 workloads" in view
    assert document.make_document(report)["overall"]["arms"]["a"]["n"] == 6


def test_one_workload_has_none():
    assert build.build_report(taken(w=examples.WALL)).overall is None


def test_metrics_of_different_kinds_have_none():
    tail = Metric("rate", "us", "lower", "latency p99", headline=True)
    percentile = replace(tail, name="latency_p99_us")
    assert build.build_report(taken(v=examples.WALL, w=tail)).overall is not None
    works = {"v": CELL, "w": {arm: {percentile.name: each["rate"]} for arm, each in CELL.items()}}
    mixed = examples.campaign(works, {"v": (examples.WALL,), "w": (percentile,)}, blocks=6)
    assert build.build_report(mixed).overall is None
    other = replace(tail, unit="MB")
    assert build.build_report(taken(v=examples.WALL, w=other)).overall is None


def test_directions_that_differ_are_not_put_together():
    report = build.build_report(taken(v=examples.WALL, w=replace(examples.RATE, unit="s")))
    assert report.overall.analysis is None
    told = "No geometric mean over workloads: in some of the first headline metrics less is better, in others more."
    assert told in " ".join(screen.render(report, 80).split())
    assert told in page.render(report)
    assert document.make_document(report)["overall"]["arms"] == {}


def test_values_that_are_not_positive_have_no_ratios():
    results = taken(v=examples.WALL, w=examples.WALL)
    first = replace(results.samples[0], metrics={"elapsed_s": 0.0})
    report = build.build_report(replace(results, samples=(first, *results.samples[1:])))
    assert report.overall.refused.startswith("some values are not positive")


def test_numbers_of_a_figure_have_every_run_and_name_void_ones():
    report = build.build_report(examples.three_arms())
    table = report.headline[1]
    rows = list_run_rows(report, table)
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[3][3] == "void"
    assert sum(cell not in ("", "void") for row in rows for cell in row[1:]) == len(table.points)
