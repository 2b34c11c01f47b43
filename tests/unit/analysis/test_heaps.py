"""Two heaps of values: found and named where they are, and not where a few values are far or numbers are coarse."""

import random

import pytest
from report_examples import campaign

from runoff.analysis.build import build_report
from runoff.analysis.heaps import Heaps, find_heaps
from runoff.report import markdown
from runoff.report.figures import distribution
from runoff.report.terminal.screen import render
from runoff.report.words.wording import describe_heaps
from runoff.results import Metric

TIME = Metric("time_s", "s", "lower", "time", headline=True)
LOW = [0.9, 1.2, 2.0, 4.1, 6.3]
HIGH = [101.0, 120.0, 130.0, 150.0, 322.0]


def test_heaps_that_differ_in_size_by_factors_are_found():
    """One value at 322 makes the gap less than half of all values, which does not ask for a mean between them."""
    assert find_heaps(HIGH + LOW, 0.02) == Heaps((0.9, 6.3), (101.0, 322.0), 0.5)


def test_the_share_is_that_of_the_upper_heap():
    found = find_heaps([1.0 + each / 100 for each in range(9)] + [50.0, 51.0, 52.1], 0.02)
    assert found is not None
    assert found.share == pytest.approx(0.25)


def test_heaps_of_values_that_are_not_positive_are_found():
    assert find_heaps([-5.0, -5.1, -5.2, -5.3, -5.05, 5.0, 5.1, 5.2, 5.3, 5.15], 0.02) is not None


@pytest.mark.parametrize(
    "values",
    [
        [1.0] * 12,
        [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 100.0],  # one that is far
        [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 99.0, 100.0],  # two that are
        [1.0, 1.1, 1.2, 50.0, 51.0, 52.0],  # few
        [10.0, 10.0, 10.0, 10.0, 10.0, 11.0, 11.0, 11.0, 11.0, 11.0],  # whole numbers
        [100.0, 100.1, 100.2, 100.3, 100.4, 101.1, 101.2, 101.3, 101.4, 101.5],  # closer than the margin
    ],
)
def test_these_are_no_two_heaps(values):
    assert find_heaps(values, 0.02) is None


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda rng: rng.gauss(100, 20), 0.02),
        (lambda rng: rng.uniform(50, 150), 0.06),
        (lambda rng: rng.gauss(9, 1), 0.02),
    ],
)
def test_ten_values_of_one_heap_seldom_look_like_two(draw, most):
    rng = random.Random(1)
    found = sum(find_heaps([draw(rng) for _ in range(10)], 0.02) is not None for _ in range(2000))
    assert 0 < found / 2000 < most


def report(values_b):
    made = campaign({"work": {"a": {"time_s": (1.0, 0.1)}, "b": {"time_s": (1.0, 0.1)}}}, {"work": (TIME,)}, blocks=10)
    values = iter(values_b)
    for sample in made.samples:
        if sample.arm == "b":
            sample.metrics["time_s"] = next(values)
    return build_report(made)


def test_two_heaps_are_named_with_their_shares_and_have_no_diamond():
    told = report([*LOW, *HIGH])
    [table] = told.tables
    [note] = describe_heaps(table)
    assert note.startswith("b has two heaps of values, which no mean describes: ")
    assert note.endswith("50 % of the runs at 0.900 to 6.30 and 50 % at 101 to 322 s")
    assert "two heaps" in render(told)
    assert "two heaps" in markdown.render(told)
    assert "b: geo. mean" not in (drawn := distribution.draw(table, "a"))
    assert "a: geo. mean" in drawn


def test_one_heap_has_a_diamond_and_no_note():
    told = report([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9])
    [table] = told.tables
    assert not list(describe_heaps(table))
    assert "b: mean" in distribution.draw(table, "a")
