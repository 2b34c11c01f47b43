"""The matrix of loads and arms says what its tables say."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.campaign.machines.join import join_results
from runoff.report.figures import gallery
from runoff.report.html import page as html
from runoff.report.terminal import screen
from runoff.report.words import load_rows
from runoff.report.words.load_rows import Entry
from runoff.results import Results
from runoff.statistics import Verdict


def only(results: Results) -> load_rows.Matrix:
    (found,) = load_rows.build(build.build_report(results))
    return found


def scale(results: Results, factor: float) -> Results:
    """Return what a slower machine would have taken."""
    samples = (replace(s, metrics={name: factor * value for name, value in s.metrics.items()}) for s in results.samples)
    return replace(results, samples=tuple(samples))


def test_each_field_is_related_to_the_same_arm_alone() -> None:
    found = only(examples.loaded())
    assert tuple(found.tables) == ("none", "io", "mem")
    assert found.entries["none", "bfs"].ratio == 1
    for arm in ("default", "bfs"):
        entry, alone = found.entries["io", arm], found.entries["none", arm]
        assert entry.mean is not None
        assert alone.mean is not None
        assert entry.ratio == pytest.approx(entry.mean / alone.mean)
    assert found.entries["io", "bfs"].verdict is Verdict.BETTER


def test_an_arm_without_a_valid_sample_has_no_number() -> None:
    assert only(examples.loaded()).entries["mem", "bfs"] == Entry(None, None, Verdict.VOID)


def test_without_none_there_is_nothing_to_relate_to() -> None:
    results = examples.loaded()
    kept = tuple(sample for sample in results.samples if sample.load != "none")
    found = only(replace(results, loads=("io", "mem"), samples=kept))
    assert not found.has_ratios
    assert found.entries["io", "bfs"].ratio is None


def test_one_load_makes_no_matrix() -> None:
    report = build.build_report(examples.three_arms())
    assert list(load_rows.build(report)) == []
    assert 'class="heat"' not in html.render(report)


def test_each_of_several_machines_has_its_own_as_times_are_of_one_machine() -> None:
    fast, slow = examples.loaded(), scale(examples.loaded(), 7.0)
    report = build.build_report(join_results({"fast": fast, "slow": slow}))
    matrices = list(load_rows.build(report))
    assert [each.machine for each in matrices] == ["fast", "slow"]
    for ours, results in zip(matrices, (fast, slow), strict=True):
        alone = only(results)
        for field, entry in ours.entries.items():
            assert (entry.mean, entry.ratio) == (alone.entries[field].mean, alone.entries[field].ratio)
    for text in (screen.render(report, 80), html.render(report)):
        for name in ("fast", "slow"):
            assert f"{name}, compile: elapsed time beside each load" in text
    assert {
        "loads-fast-compile-elapsed-time-beside-each-load.svg",
        "loads-slow-compile-elapsed-time-beside-each-load.svg",
    } <= gallery.draw_figures(report).keys()


def test_lines_fit_and_arms_that_do_not_come_below() -> None:
    cells = {"w": {f"scheduler-{n}:with=a,long=name": {"elapsed_s": (n, 0.1)} for n in range(1, 8)}}
    report = build.build_report(examples.campaign(cells, {"w": (examples.WALL,)}, blocks=3, loads=("none", "io")))
    lines = screen.render(report, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("  io ") for line in lines) > 1


def test_the_page_shows_every_field_with_its_words() -> None:
    page = html.render(build.build_report(examples.loaded()))
    assert page.count("alone</title>") + page.count("alone, better</title>") == 5
    assert "bfs beside mem: no valid sample" in page
