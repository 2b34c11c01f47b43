"""Warnings: when they come, and when not."""

import math
import random

import pytest
from scipy import stats
from test_statistics_verdicts import BASE, NEAR, SLOWER, WIDE, compare, kinds

from runoff.statistics import Observation, Question, Verdict, analyse
from runoff.statistics.trend import mann_kendall


def test_drift_along_the_run_order():
    rising = {"base": [100.0, 103, 106, 109, 112, 115], "arm": [101.0, 104, 107, 110, 113, 116]}
    (rise,) = [w for w in compare(rising).warnings if w.kind == "drift"]
    assert "values rise along" in rise.text
    (fall,) = [w for w in compare({arm: v[::-1] for arm, v in rising.items()}).warnings if w.kind == "drift"]
    assert "values fall along" in fall.text
    assert "drift" not in kinds(compare({"base": BASE, "arm": NEAR}))


def test_kendalls_variance_counts_ties():
    """Four pairs of equal values: S is 24, its variance (8 7 21 - 4 2 1 9) / 18, and 1 is taken off for continuity."""
    tau, p = mann_kendall([1, 1, 2, 2, 3, 3, 4, 4])
    assert tau == pytest.approx(24 / 28)
    assert p == pytest.approx(2 * stats.norm.sf(23 / math.sqrt((1176 - 72) / 18)))
    assert mann_kendall([5, 5, 5]) == (0.0, 1.0)


def test_a_difference_between_arms_is_no_drift():
    """All of one arm's samples in the first half of the run order, all of the other's in the second."""
    rng = random.Random(3)
    arms = {
        arm: [Observation(rng.gauss(mean, 1), 30 * half + block, block) for block in range(30)]
        for half, (arm, mean) in enumerate((("base", 100), ("arm", 200)))
    }
    assert "drift" not in kinds(analyse(arms, Question("base", "lower")))


def test_drift_is_told_at_one_percent():
    """Twelve residuals with a few pairs out of order: by Kendall's variance p is 0.02 in one series."""
    order = [0, 3, 1, 7, 2, 5, 4, 11, 6, 8, 10, 9]
    tau, p = mann_kendall(order)
    assert p < 0.01
    milder = [3, 0, 7, 1, 2, 5, 11, 4, 8, 6, 10, 9]
    assert 0.01 < mann_kendall(milder)[1] < 0.025
    for values, told in ((order, True), (milder, False)):
        arms = {
            "base": [Observation(100.0 + v, 2 * i, i) for i, v in enumerate(values)],
            "arm": [Observation(50.0, 2 * i + 1, i) for i in range(12)],
        }
        assert ("drift" in kinds(analyse(arms, Question("base", "lower")))) is told
    assert tau > 0


def test_an_arm_that_drift_may_have_made_is_not_judged():
    """Each block is slower than the one before, and the arm always came last."""
    values = {"base": [100.0, 104, 108.1, 112, 116.1], "arm": [102.0, 106, 110.1, 114.1, 118]}
    in_order = {
        arm: [Observation(value, 2 * block + place, block) for block, value in enumerate(series)]
        for place, (arm, series) in enumerate(values.items())
    }
    analysis = analyse(in_order, Question("base", "lower"))
    comparison = analysis.comparisons["arm"]
    assert (comparison.verdict, comparison.p, comparison.percent_interval) == (Verdict.UNCLEAR, None, None)
    assert comparison.percent == pytest.approx(1.9, abs=0.1)
    (warning,) = [w for w in analysis.warnings if w.kind in ("order", "resolution")]
    assert "chance has put arm on the same side of base" in warning.text
    mixed = compare(values)
    assert mixed.comparisons["arm"].verdict is Verdict.WORSE
    assert "order" not in kinds(mixed)


def test_few_blocks():
    (few,) = [w for w in compare({"base": BASE[:4], "arm": SLOWER[:4]}).warnings if w.kind == "few"]
    assert "arm (4)" in few.text
    assert "few" not in kinds(compare({"base": BASE[:5], "arm": SLOWER[:5]}))


def outliers(values: list[float]) -> tuple[float, ...]:
    return compare({"base": values, "arm": SLOWER[: len(values)]}).summaries["base"].outliers


def test_outliers_are_flagged_and_kept():
    data = {"base": [*BASE, 180.0], "arm": [*SLOWER, 121.0]}
    analysis = compare(data)
    assert analysis.summaries["base"].outliers == (180.0,)
    assert analysis.summaries["base"].n == 7
    assert analysis.summaries["base"].maximum == 180.0
    (warning,) = [w for w in analysis.warnings if w.kind == "outliers"]
    assert "1 of 7 of base" in warning.text
    assert "outliers" not in kinds(compare({"base": BASE, "arm": WIDE}))


def test_an_outlier_is_beyond_the_outer_fences_and_the_margin():
    """Quartiles of 98 to 103 and a high value are 99 and 103: the outer fence is at 115."""
    assert outliers([10.0] * 6 + [10.1]) == ()
    assert outliers([10.0] * 6 + [10.3]) == (10.3,)
    assert outliers([98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 114.9]) == ()
    assert outliers([98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 115.1]) == (115.1,)
    assert outliers([98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 50.0]) == (50.0,)
    assert outliers([1.0, 1.0, 1.0, 9.0]) == ()


@pytest.mark.parametrize("strength", [0.0, 0.9])
def test_blocks_that_depend_on_each_other_widen_the_interval(strength):
    rng = random.Random(8)
    state, arm = 0.0, []
    for _ in range(30):
        state = strength * state + rng.gauss(0, 1)
        arm.append(100 + state)
    analysis = compare({"base": [100 + rng.gauss(0, 0.1) for _ in range(30)], "arm": arm})
    comparison = analysis.comparisons["arm"]
    half = (comparison.percent_interval.high - comparison.percent_interval.low) / 2
    independent = 100 * 2.045 * comparison.sd / 30**0.5
    if strength:
        r = comparison.correlation
        assert r > 0.5
        assert half > 1.8 * independent
        assert "dependent" in kinds(analysis)
    else:
        assert half == pytest.approx(independent, rel=0.01)
        assert "dependent" not in kinds(analysis)
