"""Blocks that a campaign needs beyond those it has, against campaigns that go on."""

import math
from dataclasses import replace

import numpy as np
import pytest

from runoff.results import StoppingRule
from runoff.statistics import Question, further
from runoff.statistics.further import Seen, _look_ahead, chance_of_difference, chance_of_same
from runoff.statistics.stopping import find_multiple
from runoff.statistics.values import MOST_BLOCKS

SEEN = np.array([0.031, -0.012, 0.044, 0.019, 0.052, 0.007, -0.021, 0.035, 0.011, 0.024])


def go_on(blocks: int, true: float, sd: float, rule: StoppingRule = "extended") -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the intervals of 20,000 campaigns that have seen the same and take this many blocks in all."""
    more = true + sd * np.random.default_rng(1).standard_normal((20_000, blocks - len(SEEN)))
    values = np.column_stack([np.tile(SEEN, (len(more), 1)), more])
    half = find_multiple(blocks, 0.05, 2, rule) * values.std(axis=1, ddof=1) / math.sqrt(blocks)
    return values.mean(axis=1) - half, values.mean(axis=1) + half


def seen() -> Seen:
    return Seen(len(SEEN), float(SEEN.mean()), float(SEEN.std(ddof=1)))


@pytest.mark.parametrize(("blocks", "true", "sd"), [(11, 0.03, 0.05), (14, -0.02, 0.05), (40, 0.05, 0.01)])
def test_mean_and_spread_ahead_are_those_of_campaigns_that_go_on(blocks: int, true: float, sd: float):
    low, high = go_on(blocks, true, sd)
    later = _look_ahead(seen(), blocks, true, sd, find_multiple(blocks, 0.05, 2, "extended"))
    assert later.centre == pytest.approx(np.mean(low + high) / 2, abs=0.001)
    assert later.error == pytest.approx(np.std(low + high) / 2, rel=0.02)
    assert np.mean(later.half**2) == pytest.approx(np.mean((high - low) ** 2) / 4, rel=0.02)


@pytest.mark.parametrize(("blocks", "true", "sd"), [(30, 0.03, 0.04), (50, -0.04, 0.06)])
def test_the_chance_of_a_difference_is_that_of_campaigns_that_go_on(blocks: int, true: float, sd: float):
    low, high = go_on(blocks, true, sd)
    expected = np.mean(low > 0) if true > 0 else np.mean(high < 0)
    assert 0.03 < expected < 0.97
    assert chance_of_difference(seen(), blocks, true, sd, 2, 0.05) == pytest.approx(expected, abs=0.05)


def test_the_chance_of_the_same_is_that_of_campaigns_that_go_on():
    low, high = go_on(30, 0.005, 0.02)
    expected = np.mean((low >= -0.025) & (high <= 0.025))
    assert 0.03 < expected < 0.97
    assert chance_of_same(seen(), 30, 0.005, 0.02, 0.025, 2, 0.05) == pytest.approx(expected, abs=0.05)


def test_no_number_decides_what_is_neither_inside_a_margin_nor_on_a_side():
    asked = Question("a", "lower", taken=10)
    assert further.advise(10, 0.0, 0.1, None, 1, asked) is None
    assert further.advise(10, 0.05, 0.1, None, 1, asked) is not None
    nowhere = further.advise(10, 1e-9, 0.1, None, 1, asked)
    assert nowhere is not None
    assert nowhere.blocks > MOST_BLOCKS


def test_further_blocks_are_at_least_one_and_enough_for_rare_events():
    asked = Question("a", "lower", rare=0.05, taken=10)
    inside = further.advise(10, 0.0, 1e-6, 0.02, 1, asked)
    assert inside is not None
    assert (inside.towards, inside.blocks) == ("same", 45)
    later = further.advise(50, 0.0, 1e-6, 0.02, 1, replace(asked, taken=50))
    assert later is not None
    assert later.blocks == 51
    apart = further.advise(3, 0.5, 0.001, 0.02, 1, replace(asked, taken=3))
    assert apart is not None
    assert apart.blocks == 10
