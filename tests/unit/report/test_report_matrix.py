"""The matrix of loads and arms says what its tables say."""

from dataclasses import replace

import pytest
import report_examples as examples

from runoff.analysis import build
from runoff.report import matrix
from runoff.report.html import page as html
from runoff.report.matrix import Entry
from runoff.report.terminal import screen
from runoff.results import Results
from runoff.statistics import Verdict


def only(results: Results) -> matrix.Matrix:
    (found,) = matrix.build(build.build_report(results))
    return found


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
    assert list(matrix.build(report)) == []
    assert 'class="heat"' not in html.render(report)


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
