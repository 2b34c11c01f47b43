"""Arms that do not vary, in the classic analysis."""

import math
from collections.abc import Sequence

import pytest

from runoff.statistics import Classic, Interval, Observation, Question, analyse, analyse_classic


def compare(repeats_exactly: bool = False, **arms: Sequence[float]) -> Classic:
    observed = {arm: [Observation(v, at, at) for at, v in enumerate(values)] for arm, values in arms.items()}
    return analyse_classic(analyse(observed, Question(next(iter(arms)), "lower", repeats_exactly=repeats_exactly)))


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_an_arm_that_does_not_vary_counts_in_the_common_sd(unit: float):
    found = compare(still=[5.0 * unit] * 3, moving=[1.0 * unit, 2.0 * unit, 3.0 * unit])
    assert found.anova is not None
    assert found.anova.sd_pooled == pytest.approx(math.sqrt((0 + 2) / 4) * unit, rel=1e-9, abs=0)


def test_constant_arms_differ_by_how_rarely_shuffled_labels_sort_as_well():
    (few,) = compare(a=[5.0] * 3, b=[6.0] * 3).pairs
    assert (few.p, few.interval, few.separated) == (pytest.approx(2 / 20), None, False)
    (enough,) = compare(a=[5.0] * 5, b=[6.0] * 5).pairs
    assert (enough.p, enough.interval, enough.separated) == (pytest.approx(2 / 252), Interval(1.0, 1.0), True)
    (equal,) = compare(a=[5.0] * 5, b=[5.0] * 5).pairs
    assert (equal.p, equal.interval, equal.separated) == (1.0, Interval(0.0, 0.0), False)


def test_copies_of_one_run_are_not_tested():
    (found,) = compare(repeats_exactly=True, a=[5.0] * 5, b=[6.0] * 5).pairs
    assert (found.difference, found.p, found.interval, found.separated) == (1.0, None, None, False)
