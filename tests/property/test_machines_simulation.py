"""How often single machines speak up without a reason (docs/machines.md).

In MACHINE_CAMPAIGNS campaigns, in `make test-all` three times as many.
"""

import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))
import machine_errors as errors

from runoff.statistics import Question, Verdict, analyse_machines
from runoff.statistics.gate import Outcome, judge_comparison

CAMPAIGNS = int(os.environ.get("MACHINE_CAMPAIGNS") or 60)
LIMIT = 0.02
SHAPES = [(3, 3), (7, 5), (12, 6)]


def at_most(rate: float, count: int) -> bool:
    """Whether ``count`` of the campaigns is at most three standard deviations above ``rate``."""
    return count / CAMPAIGNS <= rate + 3 * math.sqrt(rate * (1 - rate) / CAMPAIGNS)


def draw(machines: int, blocks: int, effects: np.ndarray, number: int):
    rng = np.random.default_rng([machines, blocks, number])
    drawn = errors.draw_campaign(rng, machines, blocks, effects, np.linspace(0.002, 0.01, machines))
    return analyse_machines(drawn, Question("a", "lower", margin=LIMIT))


@pytest.mark.parametrize(("machines", "blocks"), SHAPES)
def test_machines_that_do_not_differ_seldom_disagree(machines: int, blocks: int):
    found = [draw(machines, blocks, np.zeros(machines), number).comparisons["b"] for number in range(CAMPAIGNS)]
    assert at_most(0.05, sum(each.between.has_sides for each in found))
    assert at_most(0.05, sum(each.verdict is Verdict.MIXED for each in found))


@pytest.mark.parametrize(("machines", "blocks"), SHAPES)
def test_a_single_machine_seldom_fails_a_gate_where_all_are_just_at_the_limit(machines: int, blocks: int):
    limit = math.log1p(LIMIT)
    failed = 0
    for number in range(CAMPAIGNS):
        own = draw(machines, blocks, np.full(machines, limit), number).machines.values()
        found = [analysis.comparisons["b"] for analysis in own]
        outcomes = [judge_comparison(c.log_mean, c.joint_interval, limit, c.separated, c.step or 0.0) for c in found]
        failed += Outcome.REGRESSED in outcomes
    assert at_most(0.025, failed)


@pytest.mark.parametrize(("machines", "blocks"), [(7, 5), (12, 6)])
def test_one_machine_that_is_far_worse_is_seen_and_never_called_the_same(machines: int, blocks: int):
    effects = np.full(machines, -0.01)
    effects[0] = 0.08
    found = [draw(machines, blocks, effects, number).comparisons["b"] for number in range(CAMPAIGNS)]
    assert sum("m0" in each.between.worse for each in found) > 0.95 * CAMPAIGNS
    assert not [each for each in found if each.between.worse and each.verdict in (Verdict.SAME, Verdict.SMALL)]


@pytest.mark.parametrize("runs", [(2, 2), (3, 10), (10, 3)])
@pytest.mark.parametrize("machines", [2, 3, 7])
def test_runs_in_no_blocks_on_machines_that_go_opposite_ways_are_seldom_called_better_or_worse(
    machines: int, runs: tuple[int, int]
):
    wrong = 0
    for number in range(CAMPAIGNS):
        rng = np.random.default_rng([machines, *runs, number])
        effects = errors.EFFECTS["opposite changes, mean 0"](rng, machines)
        noise = np.linspace(*errors.NOISE, machines)
        drawn = errors.draw_campaign(rng, machines, max(runs), effects, noise, block_sd=0)
        cut = {
            name: {arm: each[:count] for (arm, each), count in zip(arms.items(), runs, strict=True)}
            for name, arms in drawn.items()
        }
        question = Question("a", "lower", margin=errors.NO_MARGIN, paired=False)
        verdict = analyse_machines(cut, question).comparisons["b"].verdict
        wrong += verdict in (Verdict.BETTER, Verdict.WORSE)
    assert at_most(0.05, wrong)
