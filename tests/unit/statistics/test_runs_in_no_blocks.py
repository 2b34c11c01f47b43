"""Runs that are dealt anew, and runs that resemble the run before."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from runoff.report.words.warnings import describe_warnings
from runoff.statistics import Observation, Question, Verdict, analyse_unpaired
from runoff.statistics.dependence import Dependence, find_dependence
from runoff.statistics.permutation import DEALS, deal, needs_deals
from runoff.statistics.power import detectable_difference

FEW, MANY = np.array([1.0, 4.0, 9.5]), np.array([2.0, 3.0, 5.0, 7.0, 7.5, 8.25])


def observe(values: np.ndarray) -> list[Observation]:
    return [Observation(float(value), place, place) for place, value in enumerate(values)]


def analyse(**arms: np.ndarray):
    question = Question(next(iter(arms)), "lower", paired=False)
    return analyse_unpaired({arm: observe(values) for arm, values in arms.items()}, question)


def test_all_deals_are_those_of_welch():
    pool = np.concatenate([FEW, MANY])
    expected = []
    for chosen in combinations(range(len(pool)), len(FEW)):
        rest = np.delete(pool, chosen)
        expected.append(abs(stats.ttest_ind(pool[list(chosen)], rest, equal_var=False).statistic))
    assert deal(FEW, MANY).sizes == pytest.approx(sorted(expected, reverse=True))
    assert (deal(MANY, FEW).sizes == deal(FEW, MANY).sizes).all()


def test_p_counts_the_deal_that_happened():
    dealt = deal(FEW, MANY)
    t = stats.ttest_ind(FEW, MANY, equal_var=False).statistic
    assert dealt.find_p(t) * math.comb(9, 3) == pytest.approx(np.sum(dealt.sizes >= abs(t) - 1e-9))
    assert dealt.find_p(0.0) == 1
    drawn = deal(np.arange(5.0) + 1000, np.arange(40.0))
    assert len(drawn.sizes) == DEALS + 1
    assert drawn.find_p(1e9) == pytest.approx(1 / (DEALS + 1))


@pytest.mark.parametrize("level", [0.2, 0.05, 0.01, 0.001])
def test_the_critical_size_and_p_agree(level):
    for number in range(30):
        rng = np.random.default_rng(number)
        one, two = rng.poisson(1, 4).astype(float), rng.poisson(1, 12).astype(float)
        if not (one.std() or two.std()):
            continue
        dealt = deal(one, two)
        for t in dealt.sizes[np.isfinite(dealt.sizes)][:: len(dealt.sizes) // 20]:
            assert (t > dealt.find_critical(level)) == (dealt.find_p(t) <= level)


def test_deals_are_for_few_runs_against_many():
    assert needs_deals(5, 40)
    assert needs_deals(40, 5)
    assert needs_deals(4, 6)
    assert not needs_deals(10, 14)
    assert not needs_deals(30, 300)


def test_thousands_of_values_are_dealt_too():
    assert len(deal(np.arange(5.0), np.arange(3000.0)).sizes) == DEALS + 1


def test_three_runs_that_agree_by_chance_are_no_difference():
    many = np.array([100.0, 150.0] * 15) + 0.1 * np.sin(np.arange(30) ** 2)
    found = analyse(base=many, arm=np.array([149.9, 150.0, 150.1])).comparisons["arm"]
    assert stats.ttest_ind(np.log(many), np.log([149.9, 150.0, 150.1]), equal_var=False).pvalue < 1e-4
    assert found.p > 0.05
    assert found.verdict is Verdict.UNCLEAR
    assert found.log_interval.low < 0 < found.log_interval.high


def test_a_large_difference_of_unequal_numbers_is_seen():
    rng = np.random.default_rng(3)
    found = analyse(base=100 + rng.standard_normal(40), arm=120 + rng.standard_normal(5)).comparisons["arm"]
    assert found.verdict is Verdict.WORSE


def test_correlation_is_pooled_over_arms_and_its_bias_made_up_for():
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(n) for n in (12, 30)]
    pooled = sum(
        len(v) * float(np.sum((v - v.mean())[1:] * (v - v.mean())[:-1]) / np.sum((v - v.mean()) ** 2)) for v in values
    )
    assert find_dependence(values).correlation == pytest.approx((pooled + 2) / 42)
    assert find_dependence([values[0][:9], values[1][:10]]).correlation is None
    assert find_dependence([np.ones(50), np.ones(50)]).runs_per_one == 1


def test_independent_runs_have_no_correlation_on_average():
    found = [find_dependence(np.random.default_rng(k).standard_normal((2, 12))) for k in range(400)]
    assert abs(np.mean([each.correlation for each in found])) < 0.03
    assert np.mean([each.is_certain for each in found]) < 0.06


def test_runs_like_the_one_before_have_wide_intervals():
    slow = np.cumsum(np.random.default_rng(5).standard_normal((2, 40)), axis=1) + 1000
    analysis = analyse(base=slow[0], arm=slow[1] + 50)
    found = analysis.comparisons["arm"]
    factor = (1 + 0.9) / (1 - 0.9)
    usual = stats.ttest_ind(np.log(slow[1] + 50), np.log(slow[0]), equal_var=False)
    assert found.dependent
    assert found.p == pytest.approx(2 * stats.t.sf(abs(usual.statistic) / math.sqrt(factor), usual.df / factor))
    (sentence,) = [each for each in describe_warnings(analysis) if each.startswith("runs resemble")]
    assert f"arm (lag-1 correlation {found.correlation:.2f})" in sentence


def test_intervals_are_widened_by_what_is_seen():
    rng = np.random.default_rng(11)
    for number in range(50):
        rng = np.random.default_rng(number)
        base, arm = 100 + rng.standard_normal((2, 20))
        dependence = find_dependence([np.log(base), np.log(arm)])
        if dependence.correlation > 0.1 and not dependence.is_certain:
            break
    found = analyse(base=base, arm=arm).comparisons["arm"]
    r = dependence.correlation
    usual = stats.ttest_ind(np.log(arm), np.log(base), equal_var=False)
    factor = (1 + r) / (1 - r)
    error = (usual.confidence_interval().high - usual.confidence_interval().low) / 2 / stats.t.isf(0.025, usual.df)
    half = stats.t.isf(0.025, usual.df / factor) * math.sqrt(factor) * error
    assert (found.error, found.df) == (pytest.approx(error * math.sqrt(factor)), pytest.approx(usual.df / factor))
    assert found.log_interval.high - found.log_mean == pytest.approx(half)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(usual.statistic) / math.sqrt(factor), usual.df / factor))


def test_runs_like_the_one_before_need_more_of_them():
    rng = np.random.default_rng(2)
    base, arm = (np.exp(0.05 * rng.standard_normal(20)) for _ in range(2))
    mixed = analyse(base=base, arm=arm).comparisons["arm"]
    ordered = analyse(base=np.sort(base), arm=np.sort(arm)).comparisons["arm"]
    assert ordered.sd == pytest.approx(mixed.sd)
    assert ordered.runs_per_one > 3 * mixed.runs_per_one
    assert ordered.advice.blocks > 2 * mixed.advice.blocks


def test_a_certain_correlation_is_raised_by_half_and_kept_below_one():
    assert Dependence(0.3, False).runs_per_one == pytest.approx(1.3 / 0.7)
    assert Dependence(0.3, True).runs_per_one == pytest.approx(1.45 / 0.55)
    assert Dependence(0.7, True).runs_per_one == pytest.approx(1.9 / 0.1)
    assert Dependence(-0.7, True).runs_per_one == Dependence().runs_per_one == 1


def test_what_is_detectable_has_the_degrees_of_freedom_and_the_error_of_the_interval():
    slow = np.cumsum(np.random.default_rng(5).standard_normal((2, 40)), axis=1) + 1000
    found = analyse(base=slow[0], arm=slow[1]).comparisons["arm"]
    assert found.dependent
    size = detectable_difference(found.df, stats.t.isf(0.025, found.df)) * found.error
    assert found.detectable == pytest.approx(100 * math.expm1(size))


def test_welch_needs_help_below_thirty_runs_and_from_half_as_many_more_on():
    assert needs_deals(29, 300)
    assert needs_deals(20, 30)
    assert not needs_deals(20, 29)
