"""Outcomes of single comparisons, and how often a gate is wrong, against simulation."""

import math

import numpy as np
import pytest

from runoff.statistics.gate import Judged, Outcome, correlation, outcome, risk, together
from runoff.statistics.level import critical as students
from runoff.statistics.values import Interval

N = 10
CRITICAL = students(0.05, 1, N - 1)


@pytest.mark.parametrize(
    ("estimate", "interval", "separated", "found"),
    [
        (0.00, Interval(-0.01, 0.01), False, Outcome.FINE),
        (0.01, Interval(0.00, 0.02), False, Outcome.FINE),
        (0.01, Interval(0.005, 0.015), True, Outcome.FINE),
        (-0.05, Interval(-0.06, -0.04), True, Outcome.FINE),
        (0.01, Interval(-0.01, 0.03), False, Outcome.UNCLEAR),
        (0.015, Interval(0.005, 0.025), True, Outcome.UNCLEAR),
        (0.03, Interval(0.01, 0.05), True, Outcome.REGRESSED),
        (0.03, Interval(0.01, 0.05), False, Outcome.UNCLEAR),
        (0.03, Interval(0.025, 0.035), False, Outcome.REGRESSED),
        (0.03, Interval(-0.01, 0.07), False, Outcome.UNCLEAR),
        (0.00, None, False, Outcome.UNCLEAR),
    ],
)
def test_outcome_at_a_limit_of_two_percent(estimate, interval, separated, found):
    assert outcome(estimate, interval, 0.02, separated) is found


def test_one_regression_is_one_and_fine_is_only_what_is_fine_throughout():
    fine, worse, unclear = Outcome.FINE, Outcome.REGRESSED, Outcome.UNCLEAR
    assert together([fine, fine]) is fine
    assert together([fine, unclear]) is unclear
    assert together([unclear, worse, fine]) is worse
    assert together([]) is unclear


def simulated(values: np.ndarray, limits: list[float], critical: float, joint: float) -> tuple[float, float, float]:
    """Of differences, campaigns x blocks x comparisons: how often all is fine, something regressed, or neither."""
    n = values.shape[1]
    means, error = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(n)
    worse = (means - critical * error > limits) | ((means > limits) & (means - joint * error > 0))
    fine = (means + critical * error <= limits) & ~worse
    is_worse = worse.any(axis=1)
    is_fine = fine.all(axis=1)
    return float(is_fine.mean()), float(is_worse.mean()), float((~is_fine & ~is_worse).mean())


@pytest.mark.parametrize("together", [0.0, 0.9, -0.5])
def test_the_chances_of_a_gate_are_the_simulated_ones(together):
    sds, limits, joint = [0.02, 0.03], [0.02, 0.02], students(0.05, 2, N - 1)
    correlated = [[1.0, together], [together, 1.0]]
    values = (np.random.default_rng(3).standard_normal((20_000, N, 2)) @ np.linalg.cholesky(correlated).T) * sds
    judged = [Judged(N, sd, limit, CRITICAL, joint) for sd, limit in zip(sds, limits, strict=True)]
    found = risk(judged, correlated)
    for by, chances in ((0.0, found.unchanged), (1.0, found.at_limit), (2.0, found.at_twice)):
        expected = simulated(values + np.array([0.0, by * limits[1]]), limits, CRITICAL, joint)
        assert (chances.fine, chances.regressed, chances.unclear) == pytest.approx(expected, abs=0.02)


def test_the_chances_are_the_same_each_time_and_sum_to_one():
    judged = [Judged(8, 0.02, 0.01, CRITICAL, CRITICAL)]
    first, second = risk(judged, [[1.0]]), risk(judged, [[1.0]])
    assert first == second
    for chances in (first.unchanged, first.at_limit, first.at_twice):
        assert chances.fine + chances.regressed + chances.unclear == pytest.approx(1)


def test_a_gate_passes_a_regression_of_just_the_limit_in_one_of_forty_campaigns():
    """That is what its interval of 95 % promises, however quiet the machine is."""
    found = risk([Judged(N, 0.005, 0.02, CRITICAL, CRITICAL)], [[1.0]])
    assert found.at_limit.fine == pytest.approx(0.025, abs=0.003)
    assert found.unchanged.fine > 0.999
    assert found.at_twice.regressed > 0.999


def test_comparisons_go_together_over_the_blocks_they_share():
    one = {0: 1.0, 1: 2.0, 2: 4.0, 3: 3.0}
    assert correlation([one, {block: -2 * value for block, value in one.items()}])[0][1] == pytest.approx(-1)
    assert correlation([one, {5: 1.0, 6: 2.0, 7: 3.0}]) == [[1.0, 0.0], [0.0, 1.0]]
    assert correlation([one, {0: 1.0, 1: 1.0, 2: 1.0}])[0][1] == 0.0
    assert correlation([one, {3: 4.0, 0: 1.0, 9: 8.0, 1: 2.0}])[0][1] == pytest.approx(
        np.corrcoef([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])[0, 1]
    )


def test_correlations_that_do_not_fit_together_are_no_error():
    """Over different blocks each is right for its own, and together they may be those of nothing at all."""
    impossible = [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]
    found = risk([Judged(N, 0.02, 0.02, CRITICAL, CRITICAL)] * 3, impossible)
    assert 0 < found.unchanged.fine < 1
