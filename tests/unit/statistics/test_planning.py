"""Blocks that a question needs, against another program, simulation, and the rule that will judge."""

import math

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from runoff.statistics import planning
from runoff.statistics.level import critical
from runoff.statistics.planning import Blocks, blocks_for_same, blocks_to_detect, sd_interval


@pytest.mark.parametrize("effect", [0.2, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("chance", [0.8, 0.9])
def test_blocks_to_detect_are_those_of_statsmodels(effect, chance):
    theirs = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=chance, alternative="two-sided")
    assert blocks_to_detect(effect, 1.0, 9, chance).needed == pytest.approx(math.ceil(theirs), abs=1)


def test_what_is_detected_scales_with_the_noise():
    assert blocks_to_detect(0.02, 0.05, 9, 0.8) == blocks_to_detect(-2.0, 5.0, 9, 0.8)


@pytest.mark.parametrize("chance", [0.8, 0.9])
def test_the_blocks_for_same_have_that_chance_in_simulation(chance):
    n = blocks_for_same(1.0, 2.0, 9, chance, rare=0.5).needed
    assert n is not None
    for blocks, more in ((n, True), (n - 2, False)):
        values = 2.0 * np.random.default_rng(1).standard_normal((20_000, blocks))
        half = critical(0.05, 1, blocks - 1) * values.std(axis=1, ddof=1) / math.sqrt(blocks)
        share = float(np.mean(np.abs(values.mean(axis=1)) + half <= 1.0))
        assert share >= chance - 0.01 if more else share < chance + 0.005


def test_more_comparisons_need_more_blocks():
    assert (blocks_to_detect(1.0, 1.5, 9, 0.8, joint=8).needed or 0) > (blocks_to_detect(1.0, 1.5, 9, 0.8).needed or 0)
    assert (blocks_for_same(1.0, 3.0, 9, 0.8, comparisons=4).needed or 0) > (
        blocks_for_same(1.0, 3.0, 9, 0.8).needed or 0
    )


def test_same_waits_for_rare_events():
    assert blocks_for_same(1.0, 0.01, 9, 0.8, rare=0.05) == Blocks(45, 45, 45)
    assert blocks_for_same(1.0, 0.01, 9, 0.8, rare=0.5) == Blocks(10, 10, 10)


def test_a_pilot_of_few_blocks_leaves_a_wide_interval():
    few, many = blocks_to_detect(1.0, 2.0, 4, 0.8), blocks_to_detect(1.0, 2.0, 100, 0.8)
    assert few.needed == many.needed
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.low < many.low < (many.needed or 0) < many.high < few.high


def test_the_interval_holds_the_number_of_the_true_sd_in_nine_of_ten_pilots():
    truth = blocks_to_detect(0.5, 1.0, 1000, 0.8).needed
    assert truth is not None
    pilots = np.random.default_rng(2).standard_normal((400, 10)).std(axis=1, ddof=1)
    found = [blocks_to_detect(0.5, float(sd), 9, 0.8) for sd in pilots]
    held = np.mean([(each.low or 0) <= truth <= (each.high or math.inf) for each in found])
    assert held == pytest.approx(0.9, abs=0.045)


def test_a_question_without_an_answer_has_none():
    nothing = Blocks(None, None, None)
    assert blocks_to_detect(0.0, 1.0, 9, 0.8) == nothing
    assert blocks_for_same(0.0, 1.0, 9, 0.8) == nothing
    assert blocks_to_detect(1e-6, 1.0, 9, 0.8) == nothing
    assert blocks_to_detect(0.011, 1.0, 9, 0.8).high is None
    assert blocks_to_detect(0.011, 1.0, 9, 0.8).low is not None


def test_the_interval_of_an_sd_covers_it():
    drawn = np.random.default_rng(2).standard_normal((5000, 9)).std(axis=1, ddof=1)
    bounds = [sd_interval(float(sd), 8) for sd in drawn]
    assert np.mean([each.low <= 1 <= each.high for each in bounds]) == pytest.approx(0.9, abs=0.013)


def test_no_number_of_blocks_beyond_reason_is_given(monkeypatch):
    monkeypatch.setattr(planning, "MOST_BLOCKS", 50)
    assert blocks_to_detect(0.5, 1.0, 1000, 0.8).needed == 34
    assert blocks_to_detect(0.3, 1.0, 1000, 0.8).needed is None
