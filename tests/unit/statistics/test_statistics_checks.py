"""Warnings: when they come, and when not."""

import math
import random
from dataclasses import replace

import pytest
from compared import BASE, NEAR, SLOWER, WIDE, compare, kinds, sentences
from scipy import stats

from runoff.statistics import Observation, Question, Verdict, analyse
from runoff.statistics.blocks import differences
from runoff.statistics.effect import standardise
from runoff.statistics.trend import mann_kendall


def test_drift_along_the_run_order():
    rising = {"base": [100.0, 103, 106, 109, 112, 115], "arm": [101.0, 104, 107, 110, 113, 116]}
    (rise,) = sentences(compare(rising), "drift")
    assert "values rise along" in rise
    (fall,) = sentences(compare({arm: v[::-1] for arm, v in rising.items()}), "drift")
    assert "values fall along" in fall
    assert "drift" not in kinds(compare({"base": BASE, "arm": NEAR}))


def test_kendalls_variance_counts_ties():
    """Four pairs of equal values: S is 24, its variance (8 7 21 - 4 2 1 9) / 18, and 1 is taken off for continuity."""
    tau, p = mann_kendall([1, 1, 2, 2, 3, 3, 4, 4])
    assert tau == pytest.approx(24 / 28)
    assert p == pytest.approx(2 * stats.norm.sf(23 / math.sqrt((1176 - 72) / 18)))
    assert mann_kendall([5, 5, 5]) == (0.0, 1.0)


def test_a_difference_between_arms_is_not_drift():
    """All of one arm's samples in the first half of the run order, all of the other's in the second."""
    rng = random.Random(3)
    arms = {
        arm: [Observation(rng.gauss(mean, 1), 30 * half + block, block) for block in range(30)]
        for half, (arm, mean) in enumerate((("base", 100), ("arm", 200)))
    }
    assert "drift" not in kinds(analyse(arms, Question("base", "lower")))


def test_drift_is_reported_at_one_percent():
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
    (warning,) = sentences(analysis, "order", "resolution")
    assert "chance has put arm on the same side of base" in warning
    mixed = compare(values)
    assert mixed.comparisons["arm"].verdict is Verdict.WORSE
    assert "order" not in kinds(mixed)


def test_few_blocks():
    (few,) = sentences(compare({"base": BASE[:4], "arm": SLOWER[:4]}), "few")
    assert "arm (4)" in few
    assert "few" not in kinds(compare({"base": BASE[:5], "arm": SLOWER[:5]}))


def outliers(values: list[float]) -> tuple[float, ...]:
    return compare({"base": values, "arm": SLOWER[: len(values)]}).summaries["base"].outliers


def test_outliers_are_flagged_and_kept():
    data = {"base": [*BASE, 180.0], "arm": [*SLOWER, 121.0]}
    analysis = compare(data)
    assert analysis.summaries["base"].outliers == (180.0,)
    assert analysis.summaries["base"].n == 7
    assert analysis.summaries["base"].quantiles.maximum == 180.0
    (warning,) = sentences(analysis, "outliers")
    assert "1 of 7 runs of base" in warning
    assert "outliers" not in kinds(compare({"base": BASE, "arm": WIDE}))


def test_an_outlier_is_beyond_the_outer_fences_and_the_margin():
    """Quartiles of 98 to 103 and a high value are 99 and 103: the outer fence is at 115."""
    assert outliers([10.0] * 6 + [10.1]) == ()
    assert outliers([10.0] * 6 + [10.3]) == (10.3,)
    assert outliers([98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 114.9]) == ()
    assert outliers([98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 115.1]) == (115.1,)
    assert outliers([98.0, 99.0, 100.0, 101.0, 102.0, 103.0, 50.0]) == (50.0,)
    assert outliers([1.0, 1.0, 1.0, 9.0]) == ()


def test_six_values_have_no_outlier():
    """The fence of five equal values and a sixth is that sixth, which rounding put beyond it in one case of three."""
    rng = random.Random(2)
    assert all(outliers([10.1] * 5 + [10.1 + rng.uniform(1, 20)]) == () for _ in range(200))
    assert outliers([10.1] * 6 + [20.0]) == (20.0,)


@pytest.mark.parametrize(
    ("levels", "p", "confounded"),
    [((1, 0, 5, 2, 3, 6, 4, 7), 0.0354, True), ((2, 0, 3, 1, 6, 5, 4, 7), 0.0635, False)],
)
def test_drift_and_difference_look_alike_from_5_percent_on(levels, p, confounded):
    """The arm came last in all blocks, and their levels rise with this p by Mann-Kendall."""
    assert mann_kendall(levels)[1] == pytest.approx(p, abs=1e-4)
    base, arm = (
        [
            Observation((100.0 + level) * (1 + 0.01 * place), 2 * block + place, block)
            for block, level in enumerate(levels)
        ]
        for place in (0, 1)
    )
    found = differences(base, arm)
    assert found is not None
    assert found.confounded is confounded


@pytest.mark.parametrize(
    ("n", "r", "informative"),
    [
        (25, 0.46, 25),  # 2.326 / 5 is 0.4652: independent blocks get there in one campaign of a hundred
        (25, 0.47, 25 * 0.53 / 1.47),
        (9, 0.9, 9),
        (100, 0.8, 100 * 0.2 / 1.8),
        (100, 0.95, 100 * 0.1 / 1.9),
        (10, 0.9, 2),
    ],
)
def test_blocks_that_go_together_are_worth_fewer(n, r, informative):
    values = tuple(float(value) for value in range(n))
    found = differences(*([Observation(v + 1 + arm, 2 * b + arm, b) for b, v in enumerate(values)] for arm in (0, 1)))
    assert found is not None
    assert replace(found, correlation=r).informative == pytest.approx(informative)


@pytest.mark.parametrize("n", [3, 5, 10, 40])
def test_the_effect_has_no_bias_of_few_blocks(n):
    """Hedges' exact factor by gamma functions is known to half a percent from the one that is used, at n = 3 to 2 %."""
    rng = random.Random(n)
    logs = [rng.gauss(0.1, 0.05) for _ in range(n)]
    base = [Observation(100.0, 2 * b, b) for b in range(n)]
    arm = [Observation(100 * math.exp(log), 2 * b + 1, b) for b, log in enumerate(logs)]
    found = differences(base, arm)
    assert found is not None
    df = n - 1
    exact = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    plain = math.sqrt(2) * found.mean / (found.sd or 1)
    assert (standardise(found) or 0) / plain == pytest.approx(exact, rel=0.02 if n == 3 else 0.005)


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


def test_three_blocks_are_enough_to_see_that_drift_may_be_the_difference():
    base = [Observation(value, 2 * block, block) for block, value in enumerate([100.0, 110.0, 120.0])]
    arm = [Observation(each.value + 5, each.position + 1, each.block) for each in base]
    found = differences(base, arm)
    assert found is not None
    assert found.confounded
    two = differences(base[:2], arm[:2])
    assert two is not None
    assert not two.confounded
