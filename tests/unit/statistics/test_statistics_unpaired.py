"""Arms without blocks: what R prints for the same numbers, several columns together, and numbers that do not vary."""

import math

import numpy as np
import pytest
from scipy import stats

from runoff.results import Direction
from runoff.statistics import Analysis, Comparison, Observation, Question, Verdict, analyse_unpaired

PLANTS = [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14]

# t.test(b, a) of R 4.2.2, of logarithms but for the first: difference, its interval, degrees of freedom, p.
R = {
    "sleep": (
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
        (1.58, -0.205483230712, 3.36548323071, 17.7764735162, 0.0793941401874),
    ),
    "plants": (
        PLANTS,
        [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
        (-0.0832154093244, -0.218940076225, 0.0525092575758, 16.0308466022, 0.212133068447),
    ),
    "other plants": (
        PLANTS,
        [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
        (0.0968287578514, 0.00312024543015, 0.190537270273, 15.8886645024, 0.0436484245818),
    ),
    "other counts": (
        [10.1, 11.3, 9.8],
        [12.9, 14.2, 13.1, 12.2, 13.7, 15.0],
        (0.261753736896, 0.115561813733, 0.407945660059, 4.01488643103, 0.00761097477314),
    ),
    "two runs": (
        [100.5, 100.25],
        [101.5, 103.0],
        (0.0184814965128, -0.0647138341535, 0.101676827179, 1.05760062623, 0.232578912808),
    ),
    "other spreads": (
        [1000.1, 1000.2, 999.9, 1000.0, 1000.3],
        [700.0, 1400.0, 900.0, 1200.0, 1100.0, 650.0, 1500.0],
        (0.0180072586603, -0.284408668909, 0.320423186229, 6.00000392728, 0.888929423302),
    ),
    "large": (
        [1e12, 1.1e12, 1.05e12],
        [1.2e12, 1.3e12, 1.25e12, 1.22e12],
        (0.168636609839, 0.0734365707714, 0.263836648906, 3.53955113589, 0.00915613452397),
    ),
}


def alternate(values: list[float]) -> list[float]:
    """Equal numbers in an order in which none resembles the one before."""
    ordered, half = sorted(values), len(values) // 2
    mixed = [value for pair in zip(ordered[:half], ordered[half:], strict=False) for value in pair]
    return mixed + ordered[2 * half :]


def analyse(*arms: list[float], direction: Direction = "lower") -> Analysis:
    named = {chr(ord("a") + number): values for number, values in enumerate(arms)}
    observed = {arm: [Observation(value, at, at) for at, value in enumerate(each)] for arm, each in named.items()}
    return analyse_unpaired(observed, Question("a", direction, paired=False))


def compare(*arms: list[float], direction: Direction = "lower") -> Comparison:
    return analyse(*arms, direction=direction).comparisons["b"]


@pytest.mark.parametrize("name", R)
def test_two_columns_are_what_r_says(name: str) -> None:
    base, other, (difference, low, high, _, p) = R[name]
    found = compare(alternate(base), alternate(other))
    if name == "sleep":
        assert found.log_mean is None
        assert found.difference == pytest.approx(difference, rel=1e-9)
        interval = found.interval
    else:
        assert found.log_mean == pytest.approx(difference, rel=1e-9)
        interval = found.log_interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-6)
    if name == "other counts":
        # Of 84 ways to deal three and six runs one is as far apart.
        assert found.p == pytest.approx(1 / 84)
    else:
        assert found.p == pytest.approx(p, rel=1e-6)
    assert found.separated == (p <= 0.05)
    expected = Verdict.UNCLEAR if p > 0.05 else Verdict.WORSE if difference > 0 else Verdict.BETTER
    assert found.verdict is expected


def test_several_columns_are_judged_together() -> None:
    rng = np.random.default_rng(1)
    columns = [list(100 * np.exp(0.02 * rng.standard_normal(n))) for n in (8, 10, 11)]
    columns = [alternate(values) for values in columns]
    found = analyse(*columns).comparisons
    for arm, values in zip("bc", columns[1:], strict=True):
        alone = stats.ttest_ind(np.log(values), np.log(columns[0]), equal_var=False)
        assert found[arm].p == pytest.approx(1 - (1 - alone.pvalue) ** 2, rel=1e-9)
        interval, wanted = found[arm].log_interval, alone.confidence_interval(math.sqrt(0.95))
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((wanted.low, wanted.high), rel=1e-9)


def test_runs_in_order_of_size_have_a_wider_interval() -> None:
    base, other, _ = R["other plants"]
    mixed, ordered = compare(alternate(base), alternate(other)), compare(sorted(base), sorted(other))
    assert not mixed.dependent
    assert ordered.dependent
    assert (ordered.p or 0) > (mixed.p or 1)


def test_the_better_one_depends_on_the_direction() -> None:
    base, other, _ = R["other plants"]
    verdicts = [compare(base, other, direction=direction).verdict for direction in ("lower", "higher", "none")]
    assert verdicts == [Verdict.WORSE, Verdict.BETTER, None]


def test_the_same_needs_as_many_runs_as_blocks() -> None:
    rng = np.random.default_rng(2)
    base, other = (list(100 * np.exp(0.001 * rng.standard_normal(60))) for _ in range(2))
    assert compare(base, other).verdict is Verdict.SAME
    assert compare(base, other[:20]).verdict is Verdict.SMALL
    # Equal in the geometric mean alone: rare slow runs are not the same as none.
    slow = [*other[:54], *(value * 1.6 for value in other[54:])]
    shift = math.exp(np.mean(np.log(other)) - np.mean(np.log(slow)))
    assert compare(base, [value * shift for value in slow]).verdict is Verdict.UNCLEAR


def test_numbers_that_do_not_vary_are_told_by_how_they_are_dealt() -> None:
    assert compare([5.0] * 4, [5.0] * 4).p == 1.0
    few = compare([5.0] * 3, [6.0] * 3)
    assert (few.p, few.log_interval, few.verdict) == (pytest.approx(2 / 20), None, Verdict.UNCLEAR)
    enough = compare([5.0] * 5, [6.0] * 5)
    assert (enough.p, enough.verdict) == (pytest.approx(2 / 252), Verdict.WORSE)
    one_varies = compare([5.0] * 5, [6.0, 6.1, 6.2, 6.05, 6.1])
    expected = stats.ttest_1samp(np.log([6.0, 6.1, 6.2, 6.05, 6.1]), math.log(5.0)).pvalue
    assert one_varies.p == pytest.approx(expected, rel=1e-9)


def test_one_run_has_no_interval() -> None:
    found = compare([5.0, 5.1, 5.2], [6.0])
    assert (found.p, found.log_interval, found.verdict, found.n) == (None, None, Verdict.UNCLEAR, 1)
    assert found.percent == pytest.approx(100 * (6 / math.exp(np.mean(np.log([5.0, 5.1, 5.2]))) - 1))
    nothing = analyse([5.0, 5.1], []).comparisons["b"]
    assert nothing.verdict is Verdict.VOID
    assert analyse([], [5.0, 5.1]).comparisons["b"].verdict is Verdict.UNCLEAR


def test_values_that_are_not_positive_are_compared_in_their_unit() -> None:
    found = compare([0.0, 1.0, 2.0, 1.0], [5.0, 6.0, 7.0, 6.0])
    assert (found.log_mean, found.percent) == (None, None)
    assert found.interval is not None
    assert found.interval.low > 0
    assert found.verdict is Verdict.WORSE


def test_the_baselines_error_counts_in_the_ratio_of_means_by_that_ratio():
    """The arm is nearly constant at 0.6 of the baseline, so the error is 0.6 times that of the baseline's mean."""
    base = np.array([9.0, 10.13, 10.41, 9.57, 11.02, 9.94, 9.36, 10.57])
    arm = 6.0 + 0.001 * np.arange(8)
    ratio = arm.mean() / base.mean()
    error = math.hypot(ratio * stats.sem(base), stats.sem(arm)) / base.mean()
    edge = 1 - ratio + stats.t.isf(0.025, 7) * error
    for factor, found in ((1.002, "nothing"), (0.998, "mean")):
        arms = {
            name: [Observation(v, i, i) for i, v in enumerate(values)] for name, values in (("a", base), ("b", arm))
        }
        question = Question("a", "lower", margin=factor * edge, paired=False)
        assert analyse_unpaired(arms, question).comparisons["b"].beyond == found


def test_the_effect_is_in_standard_deviations_of_one_run() -> None:
    base, arm = [10.0, 10.3, 10.1], [11.0, 11.5, 11.1]
    one, two = np.log(base), np.log(arm)
    # Hedges' correction for the two degrees of freedom of the smaller arm.
    sd = math.hypot(np.std(one, ddof=1), np.std(two, ddof=1))
    expected = (1 - 3 / 7) * math.sqrt(2) * (two.mean() - one.mean()) / sd
    assert compare(base, arm).effect == pytest.approx(expected)
    assert compare(base, arm[:2]).effect is None
    assert compare([5.0] * 3, [6.0] * 3).effect == math.inf


def test_the_difference_is_one_of_arithmetic_means() -> None:
    found = compare([1.0, 2.0, 6.0], [2.0, 4.5, 7.0])
    assert found.difference == pytest.approx(1.5)
    assert found.percent == pytest.approx(100 * ((63 / 12) ** (1 / 3) - 1))


def test_numbers_that_do_not_vary_differ_however_small_they_are() -> None:
    """The logarithm of 1 is 0, and beside 0 any number is a difference."""
    down = compare([5.0] * 5, [1.0] * 5)
    assert (down.p, down.verdict) == (pytest.approx(2 / 252), Verdict.BETTER)
    assert down.percent == pytest.approx(-80)
    tiny = compare([0.0] * 5, [1e-13] * 5)
    assert (tiny.p, tiny.difference) == (pytest.approx(2 / 252), 1e-13)
    rounded = compare([0.0, 0.3], [0.0, 0.1 + 0.2])
    assert rounded.p == pytest.approx(1.0)
