"""Published numbers, and the same questions put to scipy and statsmodels."""

import math
from dataclasses import astuple
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from runoff.statistics import Analysis, Classic, Interval, Observation, Question, Summary, analyse, analyse_classic
from runoff.statistics.tukey import critical

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


def describe(data: dict[str, list[float]], direction: str = "lower") -> Analysis:
    arms = {arm: [Observation(value, at, at) for at, value in enumerate(values)] for arm, values in data.items()}
    return analyse(arms, Question(next(iter(data)), direction))


def summaries(data: dict[str, list[float]]) -> dict[str, Summary]:
    return dict(describe(data).summaries)


def compare(data: dict[str, list[float]]) -> Classic:
    return analyse_classic(describe(data))


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
    ours = [pair.p if variances == "equal" else pair.p_unpooled for pair in analysis.pairs]
    assert ours == pytest.approx(list(reference.pvalues), abs=1e-6)


def test_the_change_is_a_paired_t_test_of_logs():
    """Two arms: scipy's paired test on the logarithms, taken back from there."""
    two = {arm: PLANTS[arm][:7] for arm in ("ctrl", "trt2")}
    logs = np.log(two["trt2"]) - np.log(two["ctrl"])
    reference = stats.ttest_1samp(logs, 0)
    comparison = describe(two).comparisons["trt2"]
    assert comparison.p == pytest.approx(reference.pvalue)
    expected = 100 * np.expm1(tuple(reference.confidence_interval()))
    assert bounds(comparison.percent_interval) == pytest.approx(tuple(expected))
    assert comparison.percent == pytest.approx(100 * (stats.gmean(two["trt2"]) / stats.gmean(two["ctrl"]) - 1))
    assert comparison.sd == pytest.approx(np.std(logs, ddof=1))


@pytest.mark.parametrize("clustered", [False, True])
def test_two_arms_of_ten_blocks_agree_by_their_signs_too(clustered):
    """scipy's permutation test deals the signs, at 6 %: of 1023 ordered subset means 30 are left out on both sides."""
    arm = [v * (1.3 if i % 3 else 1.0) for i, v in enumerate(PLANTS["ctrl"])] if clustered else PLANTS["trt2"]
    comparison = describe({"ctrl": PLANTS["ctrl"], "arm": arm}).comparisons["arm"]
    logs = np.log(arm) - np.log(PLANTS["ctrl"])
    signs = stats.permutation_test((logs,), np.mean, permutation_type="samples", vectorized=True, n_resamples=np.inf)
    student = stats.ttest_1samp(logs, 0)
    assert comparison.p == pytest.approx(max(signs.pvalue / 1.2, student.pvalue))
    means = sorted(np.mean(s) for r in range(1, 11) for s in combinations(logs, r))
    low, high = student.confidence_interval()
    expected = 100 * np.expm1([min(low, means[29]), max(high, means[-30])])
    assert bounds(comparison.percent_interval) == pytest.approx(tuple(expected))


@pytest.mark.parametrize(("n", "signs"), [(7, False), (8, True), (14, True), (15, False)])
def test_signs_count_from_8_to_14_blocks_and_for_one_arm_only(n, signs):
    """A third of the differences is none, the rest 30 %: signs are less sure than t."""
    base = [100.0 + (7 * i) % 5 for i in range(n)]
    arm = [v * (1.3 if i % 3 else 1.0) for i, v in enumerate(base)]
    student = stats.ttest_1samp(np.log(arm) - np.log(base), 0).pvalue
    alone = describe({"base": base, "arm": arm}).comparisons["arm"].p
    assert bool(alone > 1.5 * student) is signs
    assert signs or alone == pytest.approx(student)
    three = describe({"base": base, "arm": arm, "third": base}).comparisons["arm"].p
    assert three == pytest.approx(1 - (1 - student) ** 2)


def test_several_arms_share_the_error_by_sidak():
    """Each is a paired t test at 1 - 0.95^(1/2)."""
    comparisons = describe(PLANTS).comparisons
    for arm in ("trt1", "trt2"):
        reference = stats.ttest_rel(np.log(PLANTS[arm]), np.log(PLANTS["ctrl"]))
        assert comparisons[arm].p == pytest.approx(1 - (1 - reference.pvalue) ** 2)
        interval = reference.confidence_interval(math.sqrt(0.95))
        assert bounds(comparisons[arm].percent_interval) == pytest.approx(tuple(100 * np.expm1(tuple(interval))))


def test_differences_in_units_are_a_paired_t_test():
    below = {arm: [v - 5 for v in PLANTS[arm][:7]] for arm in ("ctrl", "trt2")}
    comparison = describe(below).comparisons["trt2"]
    reference = stats.ttest_rel(below["trt2"], below["ctrl"])
    assert (comparison.percent, comparison.percent_interval) == (None, None)
    assert comparison.p == pytest.approx(reference.pvalue)
    assert bounds(comparison.interval) == pytest.approx(tuple(reference.confidence_interval()))


def test_quantiles_by_jmps_rule():
    found = summaries({"one": [float(x) for x in range(1, 10)]})["one"].quantiles
    assert astuple(found) == pytest.approx((1, 1, 2.5, 5, 7.5, 9, 9))


@pytest.mark.parametrize("n", [1, 5, 6, 8, 9, 10, 30, 101])
def test_interval_of_a_median_is_that_of_the_binomial(n):
    """scipy's quantile test, which gives no end where even the extreme is not far enough."""
    values = [float((37 * i) % 101) for i in range(n)]
    reference = stats.quantile_test(values, q=0, p=0.5).confidence_interval(0.95)
    ours = summaries({"one": values})["one"].median_ci
    if np.isnan(reference.low) or np.isnan(reference.high):
        assert ours is None
    else:
        assert bounds(ours) == tuple(reference)


def test_diamonds_use_the_pooled_sd():
    """JMP's means table: mean -+ t(0.975, N - k) s / sqrt n, here from R's lm(weight ~ group)."""
    found = compare(PLANTS)
    assert found.anova is not None
    half = stats.t.ppf(0.975, 27) * found.anova.sd_pooled / math.sqrt(10)
    assert found.anova.sd_pooled == pytest.approx(0.6234, abs=5e-5)
    for arm, interval in found.intervals.items():
        mean = np.mean(PLANTS[arm])
        assert bounds(interval) == pytest.approx((mean - half, mean + half))


def test_interval_of_a_mean_is_students():
    summary = summaries(PLANTS)["ctrl"]
    reference = stats.ttest_1samp(PLANTS["ctrl"], 0).confidence_interval(0.95)
    assert bounds(summary.ci) == pytest.approx(tuple(reference))
    assert summary.sd == pytest.approx(np.std(PLANTS["ctrl"], ddof=1))
