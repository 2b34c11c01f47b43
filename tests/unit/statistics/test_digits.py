"""Steps of values: of grids, and of digits that float with the size."""

import numpy as np
import pytest

from runoff.statistics import Observation, Question, Verdict, analyse
from runoff.statistics.digits import find_step


def step(*values: float, logs: bool = True) -> float | None:
    return find_step(np.array(values), logs=logs)


def test_a_grid_has_the_step_of_its_smallest_gap():
    assert step(4, 8, 8, 12, 16, 20, logs=False) == 4
    assert step(10, 10, 10.5) == pytest.approx(0.5 * np.mean([1 / 10, 1 / 10, 1 / 10.5]))


def test_values_that_are_all_distinct_have_none_and_equal_ones_no_step_at_all():
    assert step(9.9, 10, 11, 12, 13, 14) == 0
    assert step(5, 5, 5) is None


def test_digits_that_float_have_the_step_of_each_size():
    below, above = [9.6, 9.7, 9.8, 9.9, 9.8], [10.0, 11.0, 10.0, 12.0, 11.0]
    expected = np.mean([0.1 / value for value in below] + [1 / value for value in above])
    assert step(*below, *above) == pytest.approx(expected)
    assert step(*(1e-6 * value for value in (*below, *above))) == pytest.approx(expected)


def test_one_finer_value_does_not_make_the_others_finer():
    assert step(8.01, *[8.0] * 20, *[9.0] * 20) == pytest.approx(np.mean([1 / 8.01, *[1 / 8] * 20, *[1 / 9] * 20]))


def test_few_round_values_of_another_size_are_chance():
    assert step(9.81, 9.92, 9.93, 9.93, 9.95, 10.0) == pytest.approx(0.001, rel=0.02)


def test_one_round_number_says_nothing_of_its_last_digit():
    assert step(*[200.0] * 20, 201.0) == pytest.approx(1 / 200, rel=0.01)
    assert step(*[9.9] * 9, *[10.0] * 9) == pytest.approx(np.mean([0.1 / 9.9, 1 / 10]))
    assert step(*[9.9] * 9, *[10.0] * 8, 10.0 + 5e-13) == pytest.approx(np.mean([0.1 / 9.9, 1 / 10]))
    assert step(*[9.0] * 9, *[10.0] * 9) == pytest.approx(np.mean([1 / 9, 1 / 10]))
    assert step(*[99.0] * 9, *[100.0] * 9) == pytest.approx(np.mean([1 / 99, 1 / 100]))


def test_one_coarse_value_below_a_power_of_ten_does_not_make_it_coarse():
    """Tens go on from what all values below are written to: 9.85 has hundredths, so 10 is to tenths."""
    expected = np.mean([0.05 / 9.9] * 8 + [0.05 / 9.85] + [0.1 / 10] * 9)
    assert step(*[9.9] * 8, 9.85, *[10.0] * 9) == pytest.approx(expected)


@pytest.mark.parametrize("digits", [2, 3])
def test_what_its_digits_hide_is_never_the_same(digits: int):
    """Around a power of ten, where the step grows tenfold: a change of 4.3 (0.6) % was the same in 99 of 100."""
    base, arm, margin = (9.97, 10.4, 0.02) if digits == 2 else (0.9985, 1.0045, 0.005)
    for number in range(40):
        rng = np.random.default_rng(number)
        drawn = {name: mean * (1 + 0.002 * rng.standard_normal(60)) for name, mean in (("base", base), ("arm", arm))}
        arms = {
            name: [Observation(float(f"{v:.{digits}g}"), 2 * b + place, b) for b, v in enumerate(values)]
            for place, (name, values) in enumerate(drawn.items())
        }
        found = analyse(arms, Question("base", "lower", margin=margin)).comparisons["arm"]
        assert found.verdict not in (Verdict.SAME, Verdict.SMALL)


def test_a_tenth_of_the_values_may_be_finer_and_no_more():
    rest = [*[8.0] * 4, *[9.0] * 4]
    assert step(8.01, 8.0, *rest) == pytest.approx(1 / 8.4, rel=0.01)
    assert step(8.01, 8.02, *rest) == pytest.approx(0.01 / 8.4, rel=0.01)


def test_five_values_of_a_size_have_a_last_digit():
    below, above = [9.91, 9.92, 9.93, 9.93, 9.95], [10.0, 11.0, 12.0, 13.0, 14.0]
    assert step(*below, *above[:4]) == pytest.approx(np.mean([0.01 / value for value in (*below, *above[:4])]))
    expected = np.mean([0.01 / value for value in below] + [1 / value for value in above])
    assert step(*below, *above) == pytest.approx(expected)
