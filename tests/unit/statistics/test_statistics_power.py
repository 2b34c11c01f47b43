"""The power of blocks, against scipy's noncentral t and against drawn samples; and the advice from it."""

import math
import random

import numpy as np
import pytest
from compared import BASE, NEAR, SLOWER, WIDE, compare, kinds, on_grid, sentences, step_of
from scipy import stats

from runoff.statistics import Question, Verdict, further, planning, power
from runoff.statistics.values import Advice
from runoff.statistics.verdict import margin_of


@pytest.mark.parametrize(("rare", "blocks"), [(0.05, 45), (0.1, 22), (0.2, 11), (0.21, 10), (0.5, 10), (0.01, 230)])
def test_blocks_that_see_rare_events(rare, blocks):
    assert power.least_blocks(rare) == blocks
    assert (1 - rare) ** blocks <= 0.1
    assert blocks == 10 or (1 - rare) ** (blocks - 1) > 0.1


def test_the_rarest_that_was_seen():
    assert power.unseen_share(45) == pytest.approx(1 - 0.1 ** (1 / 45))
    assert (1 - power.unseen_share(10)) ** 10 == pytest.approx(0.1)


@pytest.mark.parametrize("n", [2, 5, 10, 100])
@pytest.mark.parametrize("arms", [1, 4])
def test_what_is_detectable_is_so_in_80_percent(n, arms):
    critical = stats.t.isf((1 - 0.95 ** (1 / arms)) / 2, n - 1)
    size = power.detectable_difference(n - 1, critical)
    assert stats.nct.sf(critical, n - 1, size) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("n", "size"), [(5, 1.0), (10, 0.7), (45, 0.3)])
def test_the_chance_of_a_difference_is_that_of_the_noncentral_t(n, size):
    critical = stats.t.isf(0.025, n - 1)
    expected = stats.nct.sf(critical, n - 1, size * math.sqrt(n))
    assert power.chance_of_difference(n, size, 1, 0.05) == pytest.approx(expected, abs=0.005)
    assert power.chance_of_difference(n, -size, 1, 0.05) == power.chance_of_difference(n, size, 1, 0.05)


@pytest.mark.parametrize(("n", "size", "margin"), [(10, 0.0, 1.2), (45, 0.0, 0.5), (45, 0.1, 0.5), (20, 0.0, 0.2)])
def test_the_chance_of_the_same_is_that_of_samples(n, size, margin):
    drawn = np.random.default_rng(5).normal(size, 1, (40_000, n))
    half = stats.t.isf(0.025, n - 1) * drawn.std(axis=1, ddof=1) / math.sqrt(n)
    inside = np.mean((drawn.mean(axis=1) - half > -margin) & (drawn.mean(axis=1) + half < margin))
    assert power.chance_of_same(n, size, margin, 1, 0.05) == pytest.approx(inside, abs=0.01)


def test_advice_is_the_first_number_with_80_percent():
    question = Question("base", "lower", rare=0.2)
    different = planning.advise(5, 0.1, 0.2, 0.02, 1, question)
    assert different.towards == "difference"
    assert different.as_seen
    assert power.chance_of_difference(different.blocks, 0.5, 1, 0.05) >= 0.8
    assert power.chance_of_difference(different.blocks - 1, 0.5, 1, 0.05) < 0.8
    same = planning.advise(5, 0.001, 0.05, 0.02, 1, question)
    assert (same.towards, same.as_seen) == ("same", False)
    assert power.chance_of_same(same.blocks, 0, 0.4, 1, 0.05) >= 0.8
    assert power.chance_of_same(same.blocks - 1, 0, 0.4, 1, 0.05) < 0.8


def test_advice_has_the_interval_of_the_sd():
    """Five blocks: chi-square with 4 degrees of freedom; the number grows with the variance."""
    advice = planning.advise(5, 0.1, 1.0, 0.02, 1, Question("base", "lower"))
    low, high = (1.0 * math.sqrt(4 / stats.chi2.isf(p, 4)) for p in (0.05, 0.95))
    assert planning.advise(5, 0.1, low, 0.02, 1, Question("base", "lower")).blocks == advice.low
    assert planning.advise(5, 0.1, high, 0.02, 1, Question("base", "lower")).blocks == advice.high
    assert advice.low < advice.blocks < advice.high


def test_more_tables_and_arms_need_more_blocks():
    one = planning.advise(10, 0.1, 0.2, 0.02, 1, Question("base", "lower")).blocks
    nine = planning.advise(10, 0.1, 0.2, 0.02, 1, Question("base", "lower", tables=9)).blocks
    both = planning.advise(10, 0.1, 0.2, 0.02, 3, Question("base", "lower", tables=3)).blocks
    assert one < nine == both


def test_the_same_that_was_missed_by_bad_luck_needs_more_than_there_were():
    """Twenty blocks would do for equal arms, and were not enough as the arms seem to differ by 1.5 %."""
    advice = planning.advise(20, 0.015, 0.02, 0.0198, 1, Question("base", "lower", rare=0.2))
    assert (advice.towards, advice.as_seen) == ("same", True)
    assert advice.blocks > 20


def test_constant_differences_need_signs():
    question = Question("base", "lower")
    assert planning.advise(3, 0.1, 0.0, 0.02, 1, question) == Advice("difference", True, 6, 6, 6)
    assert planning.advise(3, 0.1, 0.0, 0.02, 4, question).blocks == 8
    assert planning.advise(3, 0.001, 0.0, 0.02, 1, question) == Advice("same", False, 45, 45, 45)


def text(data, **question) -> str:
    (sentence,) = sentences(compare(data, **question), "resolution", "rare")
    return sentence


def test_within_the_margin_and_too_few_blocks():
    data = {"base": BASE * 2, "arm": NEAR * 2}
    assert text(data) == (
        "arm: within +-2 % over all 12 blocks, but these can miss what happens in up to 18 % of runs; to call it the "
        "same, take 45 blocks, or --rare 18%"
    )
    assert compare(data, rare=0.18).comparisons["arm"].verdict is Verdict.SAME
    assert compare(data, rare=0.17).comparisons["arm"].verdict is Verdict.SMALL
    assert text({"base": BASE, "arm": NEAR}).endswith("45 blocks, or 10 of them with --rare 21%")
    assert "45 blocks (1.5 h), or" in text(data, seconds_per_block=120.0)


def test_the_fewest_blocks_are_reported_of_several_within_the_margin():
    assert "arm, third: within +-2 % over all 12 blocks" in text({"base": BASE * 3, "arm": NEAR * 3, "third": NEAR * 2})


def finely(values: list[float]) -> list[float]:
    """Nearly the same values, none of them twice: no sign of coarse steps."""
    return [value * (1 + place * 1e-9) for place, value in enumerate(values, 1)]


def spread(values: list[float]) -> float:
    return float(np.std(np.log(values) - np.log(WIDE)))


def test_the_hardest_of_several_unclear_arms_is_reported():
    """Both arms are the baseline's values in another order: no difference, but another spread."""
    data = {"base": WIDE, "arm": [WIDE[i] for i in (0, 1, 2, 3, 5, 4)], "wider": sorted(WIDE)}
    data["arm"], data["wider"] = (finely(values) for values in sorted(data.values(), key=spread)[1:])
    advised = {arm: compare(data).comparisons[arm].advice.blocks for arm in ("arm", "wider")}
    assert advised["arm"] < advised["wider"]
    assert f"unclear: arm, wider; about {advised['wider']} blocks" in text(data)
    assert "decide it for wider with 80 % chance" in text(data)


def test_blocks_that_decide_and_how_long_they_take():
    data = {"base": BASE, "arm": WIDE}
    advised = compare(data).comparisons["arm"].advice
    assert text(data) == (
        f"unclear: arm; about {advised.blocks} blocks of a new campaign ({advised.low} to {advised.high}) decide "
        "it with 80 % chance, if there is no difference"
    )
    minutes = math.ceil(advised.blocks / 60)
    assert f"about {advised.blocks} blocks of a new campaign ({minutes} min, {advised.low} to" in text(
        data, seconds_per_block=1.0
    )


def test_too_many_blocks_are_not_counted():
    words = text({"base": WIDE, "arm": finely(WIDE[::-1])}, margin=1e-4)
    assert "more than 100000 blocks of a new campaign decide it" in words


@pytest.mark.parametrize("n", [2, 5, 10, 30])
@pytest.mark.parametrize("noise", [0.001, 0.02, 0.3])
def test_whatever_is_unclear_has_advice(n, noise):
    rng = random.Random(n)
    for _ in range(20):
        data = {arm: [100 * (1 + noise * rng.uniform(-1, 1)) for _ in range(n)] for arm in ("base", "arm", "third")}
        analysis = compare(data)
        unclear = [c for c in analysis.comparisons.values() if c.verdict is Verdict.UNCLEAR]
        assert not unclear or {"resolution", "rare", "order"} & {*kinds(analysis)}


def test_in_units_without_a_difference_no_number_decides():
    data = {"base": [-1.0, 1.0, -2.0, 2.0], "arm": [1.0, -1.0, 2.0, -2.0]}
    assert "more blocks narrow the interval and decide nothing" in text(data)
    assert "decide it" not in text({"base": [1.0], "arm": [2.0]})


def test_slower_is_not_advice():
    assert "resolution" not in kinds(compare({"base": BASE, "arm": SLOWER}))


def drawn(n: int, seed: int = 1) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [list(100 * np.exp(0.03 * rng.standard_normal(n))) for _ in range(2)]


def test_advice_of_a_campaign_that_goes_on_is_for_all_its_blocks():
    """It holds for the rule of more looks; void blocks are counted with them."""
    base, arm = drawn(10)
    anew = compare({"base": base, "arm": arm}, rare=0.2).comparisons["arm"].advice
    more = compare({"base": base, "arm": arm}, taken=10, rare=0.2).comparisons["arm"].advice
    assert more.blocks > anew.blocks
    voids = compare({"base": base, "arm": arm}, taken=13, rare=0.2).comparisons["arm"].advice
    assert (voids.blocks, voids.low, voids.high) == (more.blocks + 3, more.low + 3, more.high + 3)
    words = text({"base": base, "arm": arm}, taken=10, seconds_per_block=60.0, rare=0.2)
    assert words == (
        f"unclear: arm; about {more.blocks} blocks in all ({more.blocks - 10} min more, {more.low} to {more.high}) "
        "decide it with 80 % chance, if there is no difference"
    )


def test_advice_goes_on_after_a_look():
    base, arm = drawn(10)
    found = compare({"base": base, "arm": arm}, taken=10, rare=0.2, stopping="extended").comparisons["arm"]
    assert found.verdict is Verdict.UNCLEAR
    assert found.advice == compare({"base": base, "arm": arm}, taken=10, rare=0.2).comparisons["arm"].advice


def test_what_is_within_and_had_too_few_blocks_is_told_all_it_needs():
    data = {"base": BASE * 2, "arm": NEAR * 2}
    found = compare(data, taken=12).comparisons["arm"]
    assert (found.verdict, found.advice.towards) == (Verdict.SMALL, "same")
    assert found.advice.blocks >= 45
    assert f"{found.advice.blocks} blocks, or --rare 18%" in text(data, taken=12)


def test_signs_decide_what_does_not_vary_after_more_looks():
    """(k + 1) / 2^k is a fifth of 5 % at most from 11 on."""
    data = {"base": BASE, "arm": [2 * value for value in BASE]}
    advice = compare(data | {"base": BASE[:3], "arm": data["arm"][:3]}, taken=3).comparisons["arm"].advice
    assert (advice.towards, advice.blocks) == ("difference", 11)


def test_what_the_digits_leave_open_is_no_part_of_the_margin_that_advice_is_for():
    """Steps of 0.05 at 8 take 0.6 of the 2 %."""
    data, question = on_grid(0.0, 0.2, 2, grid=0.05, n=15), Question("base", "lower", rare=0.2)
    found = compare(data, rare=0.2).comparisons["arm"]
    margin = math.log(1.02) - step_of(*data.values())
    assert margin_of(found, question) == pytest.approx(margin)
    assert found.advice == planning.advise(15, found.log_mean, found.sd, margin, 1, question)
    assert found.advice.blocks > planning.advise(15, found.log_mean, found.sd, math.log(1.02), 1, question).blocks


def test_constant_differences_need_more_blocks_for_more_tables():
    """Tables count like arms: for a new campaign, and for one that goes on."""
    for advise, asked in ((planning.advise, {}), (further.advise, {"taken": 3})):
        one, tables, arms = (
            advise(3, 0.1, 0.0, 0.02, comparisons, Question("base", "lower", tables=tables, **asked))
            for comparisons, tables in ((1, 1), (1, 4), (4, 1))
        )
        assert one.blocks < tables.blocks == arms.blocks
