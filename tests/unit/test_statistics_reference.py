"""Published numbers, and the same questions put to scipy and statsmodels."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from runoff.statistics import Analysis, Interval, Observation, Question, analyse
from runoff.statistics.tukey import critical, games_howell_p

# R's data set PlantGrowth (Dobson 1983, table 7.1) and what R's aov and TukeyHSD print for it.
PLANTS = {
    "ctrl": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    "trt1": [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    "trt2": [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
}
PLANT_PAIRS = {
    ("ctrl", "trt1"): (-0.371, -1.0622161, 0.3202161, 0.3908711),
    ("ctrl", "trt2"): (0.494, -0.1972161, 1.1852161, 0.1979960),
    ("trt1", "trt2"): (0.865, 0.1737839, 1.5562161, 0.0120064),
}

# The example in scipy's manual of tukey_hsd, which is Minitab's: five samples of three groups.
MINITAB = {
    "a": [24.5, 23.5, 26.4, 27.1, 29.9],
    "b": [28.4, 34.2, 29.5, 32.2, 30.1],
    "c": [26.1, 28.3, 24.3, 26.2, 27.8],
}
MINITAB_PAIRS = {
    ("a", "b"): (4.60, 0.951, 8.249, 0.014),
    ("a", "c"): (0.26, -3.389, 3.909, 0.980),
    ("b", "c"): (-4.34, -7.989, -0.691, 0.020),
}

UNBALANCED = {"x": [10.1, 11.3, 9.8], "y": [12.9, 14.2, 13.1, 12.2, 13.7, 15.0], "z": [10.4, 12.6, 11.9, 10.9]}


def compare(data: dict[str, list[float]], direction: str = "lower") -> Analysis:
    arms = {
        arm: [Observation(value, position) for position, value in enumerate(values)] for arm, values in data.items()
    }
    return analyse(arms, Question(next(iter(data)), direction))


def bounds(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def test_plant_growth_as_printed_by_r():
    analysis = compare(PLANTS)
    assert analysis.anova is not None
    assert (analysis.anova.df_between, analysis.anova.df_within) == (2, 27)
    assert analysis.anova.f == pytest.approx(4.846, abs=5e-4)
    assert analysis.anova.p == pytest.approx(0.0159, abs=5e-5)
    for pair in analysis.pairs:
        difference, low, high, p = PLANT_PAIRS[pair.first, pair.second]
        assert pair.difference == pytest.approx(difference, abs=1e-9)
        assert bounds(pair.interval) == pytest.approx((low, high), abs=1e-6)
        assert pair.p == pytest.approx(p, abs=1e-6)
    assert analysis.letters == {"trt1": "a", "ctrl": "ab", "trt2": "b"}


def test_three_groups_as_printed_by_minitab():
    for pair in compare(MINITAB).pairs:
        difference, low, high, p = MINITAB_PAIRS[pair.first, pair.second]
        assert pair.difference == pytest.approx(difference, abs=1e-9)
        assert bounds(pair.interval) == pytest.approx((low, high), abs=1e-3)
        assert pair.p == pytest.approx(p, abs=1e-3)


def test_two_arms_are_one_pooled_t_test():
    assert critical(0.05, 2, 18) == pytest.approx(2.1009, abs=5e-5)
    assert critical(0.05, 2, 18) == pytest.approx(stats.t.ppf(0.975, 18), abs=1e-8)
    two = {arm: PLANTS[arm] for arm in ("ctrl", "trt1")}
    (pair,) = compare(two).pairs
    reference = stats.ttest_ind(PLANTS["trt1"], PLANTS["ctrl"])
    assert pair.p == pytest.approx(reference.pvalue, abs=1e-8)
    assert bounds(pair.interval) == pytest.approx(tuple(reference.confidence_interval()), abs=1e-8)
    anova = compare(two).anova
    assert anova is not None
    assert anova.f == pytest.approx(reference.statistic**2)


def test_four_arms_of_three_need_a_wider_interval_than_one_pair():
    assert critical(0.05, 4, 8) == pytest.approx(3.202, abs=5e-4)
    assert critical(0.05, 2, 8) == pytest.approx(2.306, abs=5e-4)


@pytest.mark.parametrize("data", [PLANTS, MINITAB, UNBALANCED])
def test_agrees_with_scipy(data):
    analysis = compare(data)
    values = list(data.values())
    reference = stats.tukey_hsd(*values)
    interval = reference.confidence_interval(0.95)
    index = {arm: i for i, arm in enumerate(data)}
    f, p = stats.f_oneway(*values)
    assert (analysis.anova.f, analysis.anova.p) == pytest.approx((f, p))
    for pair in analysis.pairs:
        cell = index[pair.second], index[pair.first]
        assert pair.p == pytest.approx(reference.pvalue[cell], abs=1e-7)
        assert bounds(pair.interval) == pytest.approx((interval.low[cell], interval.high[cell]), abs=1e-6)


@pytest.mark.parametrize("data", [PLANTS, MINITAB, UNBALANCED])
@pytest.mark.parametrize("variances", ["equal", "unequal"])
def test_agrees_with_statsmodels(data, variances):
    endog = np.concatenate([np.asarray(values) for values in data.values()])
    groups = np.repeat(list(data), [len(values) for values in data.values()])
    reference = pairwise_tukeyhsd(endog, groups, use_var=variances)
    analysis = compare(data)
    ours = [
        pair.p
        if variances == "equal"
        else games_howell_p(analysis.summaries[pair.first], analysis.summaries[pair.second], len(data))
        for pair in analysis.pairs
    ]
    assert ours == pytest.approx(list(reference.pvalues), abs=1e-6)


@pytest.mark.parametrize("data", [PLANTS, MINITAB, UNBALANCED])
def test_percent_interval_holds_exactly_the_ratios_the_test_keeps(data):
    analysis = compare(data)
    base = analysis.summaries[analysis.question.baseline]
    limit = critical(0.05, len(data), analysis.anova.df_within)
    for arm in list(data)[1:]:
        other, comparison = analysis.summaries[arm], analysis.comparisons[arm]

        def excess(ratio, other=other):
            error = analysis.anova.sd_pooled * math.sqrt(1 / other.n + ratio**2 / base.n)
            return abs(other.mean - ratio * base.mean) / error - limit

        centre = other.mean / base.mean
        low = optimize.brentq(excess, centre - 1, centre)
        high = optimize.brentq(excess, centre, centre + 1)
        assert comparison.percent == pytest.approx(100 * (centre - 1))
        assert bounds(comparison.percent_interval) == pytest.approx((100 * (low - 1), 100 * (high - 1)), abs=1e-6)


def test_quantiles_by_jmps_rule():
    summary = compare({"one": [float(x) for x in range(1, 10)]}).summaries["one"]
    assert (summary.q10, summary.q25, summary.median, summary.q75, summary.q90) == pytest.approx((1, 2.5, 5, 7.5, 9))
    assert (summary.minimum, summary.maximum) == (1, 9)


def test_interval_of_a_mean_is_students():
    summary = compare(PLANTS).summaries["ctrl"]
    reference = stats.ttest_1samp(PLANTS["ctrl"], 0).confidence_interval(0.95)
    assert bounds(summary.ci) == pytest.approx(tuple(reference))
    assert summary.sd == pytest.approx(np.std(PLANTS["ctrl"], ddof=1))
