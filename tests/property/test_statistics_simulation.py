"""The rates of docs/statistics.md, from VERDICT_TABLES tables: few, but in `make test-all` as many as the page's."""

import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))
import unpaired_errors as unpaired
import verdict_errors as errors
import verdict_rule as rule
import verdict_scenarios as scenarios
from verdict_scenarios import Shape, Tables

from runoff.plan.order import draw
from runoff.statistics import Observation, Question, Verdict, analyse, analyse_unpaired, judge_family

TABLES = int(os.environ.get("VERDICT_TABLES") or 1000)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def at_most(rate: float, percent: float, tables: int = TABLES) -> bool:
    """Whether an observed ``percent`` is at most three standard deviations above ``rate``."""
    return percent <= 100 * (rate + 3 * math.sqrt(rate * (1 - rate) / tables))


def asked(taken: Tables, number: int) -> dict[str, list[Observation]]:
    values, places = taken.values[number], taken.positions[number]
    return {
        f"arm{arm}": [
            Observation(float(values[block, arm]), int(places[block, arm]), block)
            for block in range(len(values))
            if not np.isnan(values[block, arm])
        ]
        for arm in range(values.shape[1])
    }


def test_simulated_samples_stand_as_those_of_a_campaign_do():
    """Every second block the other way round than the one before, the last of an odd number by itself."""
    positions = scenarios.order(np.random.default_rng(1), Shape(200, 5, 3))
    assert np.array_equal(np.sort(positions.reshape(200, -1)), np.tile(np.arange(15.0), (200, 1)))
    within = positions - 3 * np.arange(5)[:, None]
    assert np.array_equal(within[:, 1::2], 2 - within[:, 0:4:2])
    drawn = np.array([[cell.arm for cell in draw(3, 1, [5], seed)] for seed in range(200)]).reshape(200, 5, 3)
    assert np.array_equal(drawn[:, 1::2], drawn[:, 0:4:2, ::-1])
    assert len({tuple(table[4]) for table in drawn}) == len({tuple(table[4]) for table in within}) == 6


@pytest.mark.parametrize("name", [*scenarios.USUAL, *scenarios.BEYOND])
def test_the_rule_for_arrays_is_that_of_the_package(name):
    draw = {**scenarios.USUAL, **scenarios.BEYOND}[name]
    for blocks, arms in ((5, 3), (10, 2), (12, 2), (20, 3)):
        taken = errors.take(draw, Shape(25, blocks, arms))
        found = rule.judge(taken, rare=0.21)
        for number in range(25):
            analysis = analyse(asked(taken, number), Question("arm0", "lower", rare=0.21))
            for arm in range(1, arms):
                comparison = analysis.comparisons[f"arm{arm}"]
                cell = number, arm - 1
                assert (comparison.verdict in (Verdict.BETTER, Verdict.WORSE)) == found.separated[cell]
                assert (comparison.verdict is Verdict.SAME) == found.same[cell]
                assert (comparison.percent_interval is None) == np.isinf(found.low[cell])
                # Of values in steps some means of signs are 0, and fall on either side of it by rounding.
                if name not in ("integers, 10 -+ 0.6", "90 % of values equal"):
                    together_p = 1 - (1 - found.p[cell]) ** (arms - 1)
                    assert together_p == pytest.approx(comparison.p or 1.0, rel=1e-6, abs=1e-12)
                if comparison.percent_interval is not None:
                    ours = np.log1p(np.array([comparison.percent_interval.low, comparison.percent_interval.high]) / 100)
                    assert ours == pytest.approx([found.low[cell], found.high[cell]], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("blocks", "arms"), [(10, 2), (20, 3)])
def test_campaigns_of_the_rule_for_arrays_are_those_of_the_package(blocks, arms):
    taken = errors.take(scenarios.normal(0.05), Shape(200, blocks, arms))
    # Differences of all sizes, so that Holm's steps matter.
    taken.values[:, :, 1] *= np.exp(0.05 * np.random.default_rng(1).random((200, 1)))
    found = rule.judge_campaigns(rule.judge(taken), 4)
    for campaign in range(50):
        asked_of = [
            analyse(asked(taken, 4 * campaign + table), Question("arm0", "lower", tables=4)) for table in range(4)
        ]
        verdicts = [c.verdict for table in judge_family(asked_of) for c in table.comparisons.values()]
        assert found[campaign] == any(verdict in (Verdict.BETTER, Verdict.WORSE) for verdict in verdicts)
    assert 0.1 < found.mean() < 0.9


@pytest.mark.parametrize("name", scenarios.BEYOND)
def test_the_rule_fails_only_where_the_page_says_so(name):
    """Some cell of it is over 5 % for certain, else the row is misplaced."""
    rates = [errors.count_false_verdicts(scenarios.BEYOND[name], Shape(8000, blocks, 2))[0] for blocks in errors.BLOCKS]
    assert not all(at_most(0.05, rate, 8000) for rate in rates)


@pytest.mark.parametrize("name", scenarios.USUAL)
def test_without_a_difference_5_percent_of_tables_have_one(name):
    for arms in errors.ARMS:
        for blocks in errors.BLOCKS:
            false, covered = errors.count_false_verdicts(scenarios.USUAL[name], Shape(TABLES, blocks, arms))
            assert at_most(0.05, false), (arms, blocks)
            # Memory along the run order takes half a point of it.
            assert at_most(0.055 if name.startswith("AR(1)") else 0.05, 100 - covered), (arms, blocks)


@pytest.mark.parametrize("factor", [1, 3, 10])
def test_voids_of_an_unsteady_arm_make_no_differences(factor):
    for arms in errors.ARMS:
        for full, short in ((5, 3), (10, 4), (20, 8)):
            draw = scenarios.draw_unsteady(factor, 1 - short / full)
            false, covered = errors.count_false_verdicts(draw, Shape(TABLES, full, arms))
            assert at_most(0.05, false), (arms, full)
            assert at_most(0.05, 100 - covered), (arms, full)


@pytest.mark.parametrize("arms", errors.ARMS)
@pytest.mark.parametrize("blocks", [10, 20])
def test_intervals_are_nearly_as_narrow_as_with_one_spread_for_all(arms, blocks):
    """5 % wider at most than by blocks, arms and one SD; 10 % than Welch's without blocks, where blocks do nothing."""
    for block_sd in (0.0, 0.1):
        ours, two_way, welch = errors.measure_width(block_sd, Shape(TABLES, blocks, arms))
        assert ours <= 1.055 * two_way
        assert block_sd or ours <= 1.1 * welch


@pytest.mark.parametrize("arms", errors.ARMS)
def test_power_is_near_the_theory_without_blocks(arms):
    for blocks in errors.BLOCKS:
        theory = rule.pooled_power(arms, blocks, 1.0)
        noise = 3 * math.sqrt(theory * (1 - theory) / TABLES)
        for block_sd in (0.0, 0.1):
            assert errors.power(block_sd, Shape(TABLES, blocks, arms)) >= theory - 0.05 - noise


@pytest.mark.parametrize("blocks", errors.BLOCKS)
@pytest.mark.parametrize("third", ["SD 10 %", "10x slower"])
def test_a_wild_third_arm_costs_the_others_no_power_but_by_being_one_more(third, blocks):
    beside = errors.simulate_third_arm(errors.THIRD[third], blocks, TABLES)
    noise = 3 * math.sqrt(0.25 / TABLES)
    assert beside >= errors.simulate_third_arm(errors.THIRD["like the others"], blocks, TABLES) - noise
    if blocks >= 10:
        assert beside >= errors.simulate_third_arm(None, blocks, TABLES) - 0.05


@pytest.mark.parametrize("arms", errors.ARMS)
@pytest.mark.parametrize("noise", [0.005, 0.02])
def test_what_differs_by_the_margin_is_seldom_called_the_same(arms, noise):
    for blocks in (10, 20, 45):
        taken = errors.take(scenarios.normal(noise), Shape(TABLES, blocks, arms))
        taken.values[:, :, 1] *= 1.02
        assert at_most(0.05, errors.count_same(taken, rare=0.21))


@pytest.mark.parametrize(("share", "times"), errors.STALLS[:2])
def test_what_stalls_now_and_then_is_seldom_called_the_same(share, times):
    for blocks in (10, 20, 45, 90):
        assert at_most(0.1, errors.count_same(errors.draw_stalling(share, times, Shape(TABLES, blocks, 2))))


def test_equal_arms_are_called_the_same_when_there_are_blocks_enough():
    assert errors.count_same(errors.take(scenarios.normal(0.01), Shape(TABLES, 45, 2))) > 95


@pytest.mark.parametrize("name", [*scenarios.USUAL, *scenarios.BEYOND])
def test_the_rule_without_blocks_for_arrays_is_that_of_the_package(name):
    draw = {**scenarios.USUAL, **scenarios.BEYOND}[name]
    for runs, arms in ((5, 3), (10, 2), (20, 3)):
        taken = errors.take(draw, Shape(10, runs, arms))
        found = unpaired.find_p(taken.values)
        for number in range(10):
            analysis = analyse_unpaired(asked(taken, number), Question("arm0", "lower", paired=False))
            for arm in range(1, arms):
                p = analysis.comparisons[f"arm{arm}"].p
                alone = -math.expm1(math.log1p(-p) / (arms - 1)) if p < 1 else 1.0
                assert alone == pytest.approx(found[number, arm - 1], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", scenarios.USUAL)
@pytest.mark.parametrize("arms", unpaired.ARMS)
def test_verdicts_without_blocks_are_wrong_as_seldom_as_they_say(name, arms):
    for runs in unpaired.COUNTS:
        values = unpaired.draw_values(scenarios.USUAL[name], Shape(TABLES, runs, arms))
        assert at_most(0.055, unpaired.count_false(values)), runs
