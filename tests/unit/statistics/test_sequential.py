"""The rule that keeps its error over any looking: its numbers, its decisions, and by simulation its error."""

import importlib.util
import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from scipy import integrate, special, stats

from runoff.results import FIRST_LOOK
from runoff.statistics import Question, analyse, judge_family, sequential
from runoff.statistics.level import level_for_each
from runoff.statistics.stopping import SHARE, Mean, find_half, spend
from runoff.statistics.values import Comparison, Interval, Observation, Verdict


def draw(mean: float, sd: float, n: int, seed: int = 1) -> list[float]:
    """``n`` values of exactly this mean and SD."""
    raw = np.random.default_rng(seed).standard_normal(n)
    return list(mean + sd * (raw - raw.mean()) / raw.std(ddof=1))


def mixed_likelihoods(values: list[float]) -> float:
    """log of the Bayes factor by its definition: likelihoods mixed over 1/SD, and over the effect in SDs."""
    n, mean, squares = len(values), float(np.mean(values)), float(np.sum(np.square(values)))

    def alternative(effect: float) -> float:
        # Integral over s of s^-(n+1) exp(-(squares - 2 s e n mean + n e^2 s^2) / (2 s^2)), with w = 1 / s.
        def weight(w: float) -> float:
            return w ** (n - 1) * math.exp(-(squares * w * w - 2 * n * mean * effect * w + n * effect**2) / 2)

        return integrate.quad(weight, 0, 60 / math.sqrt(squares), limit=200)[0]

    null = integrate.quad(lambda w: w ** (n - 1) * math.exp(-squares * w * w / 2), 0, 60 / math.sqrt(squares))[0]
    prior = stats.norm(0, math.sqrt(sequential.EFFECT_VARIANCE)).pdf
    mixed = integrate.quad(lambda effect: prior(effect) * alternative(effect), -8, 8, limit=200)[0]
    return math.log(mixed / null)


@pytest.mark.parametrize(("mean", "n"), [(0.0, 3), (0.7, 3), (-0.7, 3), (1.5, 6), (0.3, 12)])
def test_the_evidence_is_the_ratio_of_mixed_likelihoods(mean, n):
    values = draw(mean, 1.0, n)
    assert sequential.evidence(n, mean * math.sqrt(n)) == pytest.approx(mixed_likelihoods(values), abs=1e-6)


@pytest.mark.parametrize("n", [5, 10, 37, 500])
@pytest.mark.parametrize("alpha", [0.05, 0.0125, 0.001])
def test_the_evidence_at_the_critical_value_is_one_in_alpha(n, alpha):
    bound = sequential.critical(n, alpha)
    if math.isinf(bound):
        assert sequential.evidence(n, 1e6) < -math.log(alpha)
    else:
        assert sequential.evidence(n, bound) == pytest.approx(-math.log(alpha))


def test_no_t_is_enough_for_three_values():
    assert math.isinf(sequential.critical(3, 0.05))
    assert sequential.evidence(3, 1e12) < math.log(20)


def looked_at(values: list[float], *, arms: int = 2, direction: str = "lower", **question: Any) -> Comparison:
    """An arm whose logarithms of ratios to the baseline are ``values``; other arms are the baseline again."""
    base = [Observation(10.0, 2 * block, block) for block in range(len(values))]
    other = [Observation(10.0 * math.exp(v), 2 * b + (b % 2 or -1), b) for b, v in enumerate(values)]
    rest = {f"arm {number}": base for number in range(arms - 2)}
    asked = Question("base", direction, stopping="until", **{"rare": 0.5, **question})  # type: ignore[arg-type]
    return analyse({"base": base, "arm": other, **rest}, asked).comparisons["arm"]


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("arms", [2, 5])
def test_interval_and_p_agree_at_the_bounds(n, arms):
    values = draw(0.03, 0.02, n)
    found = looked_at(values, arms=arms).percent_interval
    assert found is not None
    for bound in (found.low, found.high):
        shifted = [value - math.log1p(bound / 100) for value in values]
        assert looked_at(shifted, arms=arms).p == pytest.approx(0.05)


def test_the_interval_is_wider_than_that_of_one_look_and_shrinks():
    widths = []
    for n in (10, 40, 160):
        found = looked_at(draw(0.0, 0.01, n)).percent_interval
        assert found is not None
        high = math.log1p(found.high / 100)
        widths.append(high)
        assert 1.5 < high / 0.01 * math.sqrt(n) / special.stdtrit(n - 1, 0.975) < 1.8
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("mean", "direction", "verdict"),
    [
        (0.05, "lower", Verdict.WORSE),
        (0.05, "higher", Verdict.BETTER),
        (-0.05, "lower", Verdict.BETTER),
        (-0.05, "higher", Verdict.WORSE),
        (0.05, "none", None),
        (0.0, "lower", Verdict.UNCLEAR),
    ],
)
def test_a_difference_is_decided_in_its_direction(mean, direction, verdict):
    assert looked_at(draw(mean, 0.02, 12), direction=direction, margin=0.001).verdict is verdict


def test_what_student_would_separate_is_not_yet():
    """t is 3.16 with nine degrees of freedom: beyond 2.26, and not beyond 3.87."""
    values = draw(0.02, 0.02, 10)
    assert looked_at(values, margin=0.001).verdict is Verdict.UNCLEAR
    assert looked_at(draw(0.0245, 0.02, 10), margin=0.001).verdict is Verdict.WORSE


def test_nothing_is_decided_before_the_first_look():
    values = draw(1.0, 1e-6, FIRST_LOOK)
    assert looked_at(values).verdict is Verdict.WORSE
    assert looked_at(values[:-1]).verdict is Verdict.UNCLEAR


def test_same_is_inside_of_the_margin_and_goes_before_a_difference():
    values = draw(0.004, 0.001, 20)
    assert looked_at(values, margin=0.001).verdict is Verdict.WORSE
    assert looked_at(values, margin=0.01).verdict is Verdict.SAME
    assert looked_at(draw(0.02, 0.001, 20), margin=0.01).verdict is Verdict.WORSE


def test_same_waits_until_rare_events_would_have_been_seen():
    for blocks, verdict in ((44, Verdict.SMALL), (45, Verdict.SAME)):
        assert looked_at(draw(0.0, 0.001, blocks), margin=0.01, rare=0.05).verdict is verdict


@pytest.mark.parametrize("n", [1, 2, 3])
def test_so_few_blocks_have_no_interval(n):
    found = looked_at([0.5, 0.4, 0.45][:n])
    assert found.percent_interval is None
    assert found.verdict is Verdict.UNCLEAR
    assert found.p is None or 0 < found.p <= 1


def test_equal_values_are_not_a_difference():
    assert looked_at([0.0, 0.0]).percent_interval == Interval(0.0, 0.0)
    assert looked_at([0.0] * 50).p == 1.0
    assert looked_at([0.0] * 10).verdict is Verdict.UNCLEAR
    assert looked_at([1e-16, -1e-16] * 10).verdict is Verdict.UNCLEAR
    assert looked_at([1e-9, -1e-9] * 10).verdict is Verdict.SAME


def test_one_number_again_and_again_is_judged_by_its_sign():
    """Seven heads say less than 20 to 1 against a fair coin, 2^7 / 8 = 16; eight say 2^8 / 9 = 28."""
    assert looked_at([0.1] * 7).percent_interval is None
    assert looked_at([0.1] * 8).percent_interval is not None
    assert looked_at([0.1] * 8).p == pytest.approx(9 / 256)
    assert sequential.sign_flip(1) == 1.0


def test_the_level_is_shared_by_the_arms_of_a_table_and_by_tables():
    """With t = 4.3 of ten blocks two arms are apart; of five arms, or of four tables, they are not."""
    values = draw(4.3 * 0.02 / math.sqrt(10), 0.02, 10)
    assert looked_at(values, margin=0.001).separated
    assert not looked_at(values, margin=0.001, arms=5).separated
    base = [Observation(10.0, 2 * block, block) for block in range(10)]
    other = [Observation(10.0 * math.exp(v), 2 * b + (b % 2 or -1), b) for b, v in enumerate(values)]
    asked = Question("base", "lower", margin=0.001, stopping="until", tables=4)
    tables = [analyse({"base": base, "arm": arm}, asked) for arm in (other, base, base, base)]
    assert tables[0].comparisons["arm"].verdict is Verdict.WORSE
    assert judge_family(tables)[0].comparisons["arm"].verdict is Verdict.UNCLEAR


def test_no_advice_of_one_look_is_given():
    found = looked_at(draw(0.01, 0.02, 12))
    assert (found.verdict, found.advice, found.detectable) == (Verdict.UNCLEAR, None, None)


def any_looking() -> ModuleType:
    spec = importlib.util.spec_from_file_location("any_looking", ROOT / "bench/any_looking.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BENCH = any_looking()


def most(campaigns: int) -> float:
    """5 % and three binomial standard deviations."""
    return 0.05 + 3 * math.sqrt(0.05 * 0.95 / campaigns)


@pytest.mark.parametrize("arms", [2, 5])
def test_the_bench_and_the_program_separate_the_same(arms):
    generator = np.random.default_rng(5)
    for sd in (0.0, 0.005, 0.02):
        values = 0.01 + sd * generator.standard_normal((1, 60))
        at_once = BENCH.find_separated(values, level_for_each(0.05, arms - 1))[0]
        assert at_once.any()
        for n in range(1, 61):
            assert at_once[n - 1] == looked_at(list(values[0, :n]), arms=arms).separated


@pytest.mark.parametrize("name", ["normal 5 %", "bimodal 90/110", "one arm 10 times noisier"])
def test_looking_at_every_block_finds_no_more_than_five_percent(name):
    assert BENCH.simulate_false_rates(BENCH.SCENARIOS[name], 2, 500)[3] <= most(500)


def test_a_change_of_half_the_margin_ends_either_way():
    """The page says so: it is there, and it is within the margin."""
    apart, same, _ = BENCH.simulate_ends(0.5 * BENCH.MARGIN, BENCH.MARGIN, 400)
    assert 0.4 < apart < 0.65
    assert apart + same > 0.99
    wrong, same, _ = BENCH.simulate_ends(0.0, BENCH.MARGIN, 400)
    assert wrong < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    assert same > 0.9


@pytest.mark.parametrize("arms", BENCH.ARMS)
@pytest.mark.parametrize("name", BENCH.SCENARIOS)
def test_the_error_holds_over_any_looking(name, arms):
    rates = BENCH.simulate_false_rates(BENCH.SCENARIOS[name], arms, 2000, seed=11)
    assert rates[3] <= most(2000)
    assert rates[FIRST_LOOK] <= rates[3]


@pytest.mark.parametrize("arms", BENCH.ARMS)
@pytest.mark.parametrize("name", ["gamma(4), skewness 1", "Gumbel, skewness 1.1"])
def test_the_first_look_keeps_the_error_of_skewed_arms(name, arms):
    assert BENCH.simulate_false_rates(BENCH.SKEWED[name], arms, 2000, seed=11)[FIRST_LOOK] <= most(2000)


def test_a_rule_that_looks_with_students_t_would_fail_this_test(monkeypatch):
    """That the simulation finds a rule which does not keep its error."""
    monkeypatch.setattr(sequential, "critical", lambda n, alpha: special.stdtrit(max(1, n - 1), 1 - alpha / 2))
    assert BENCH.simulate_false_rates(BENCH.SCENARIOS["normal 5 %"], 2, 500)[10] > 4 * most(500)


def test_a_mean_without_an_error_adds_nothing_to_an_interval_of_two() -> None:
    """Each at half the level, whatever the rule of the other; too few values have no interval at all."""
    still, moving = Mean(20, 0.0, "until"), Mean(20, 0.1, "planned")
    expected = 0.1 * stats.t.isf(0.0125, 19)
    assert find_half([still, moving], 0.05) == pytest.approx(expected)
    assert find_half([moving, moving], 0.05) == pytest.approx(2 * expected)
    assert math.isinf(find_half([Mean(2, 0.0, "until"), moving], 0.05))


def test_a_share_of_the_error_makes_no_p_above_one() -> None:
    assert spend(0.9, "extended") == 1.0
    assert spend(0.001, "extended") == pytest.approx(0.001 / SHARE["extended"])
    assert spend(0.9, "planned") == 0.9
