"""Rules of single lines, each by the number that another rule would not give."""

import math

import numpy as np
import pytest
from scipy import stats

from runoff.statistics import Observation, Question, Verdict, analyse, analyse_machines, power
from runoff.statistics.blocks import differences
from runoff.statistics.describe import summarise
from runoff.statistics.planning import blocks_to_detect


def take(*values: float) -> list[Observation]:
    """The values of one arm, a block each."""
    return [Observation(value, 2 * block, block) for block, value in enumerate(values)]


def test_the_detectable_change_is_for_as_many_degrees_of_freedom_as_blocks_less_one():
    base, arm = [10.0, 10.1, 9.9, 10.2, 9.8], [10.3, 10.2, 10.4, 10.6, 10.1]
    found = analyse({"a": take(*base), "b": take(*arm)}, Question("a", "lower")).comparisons["b"]
    sd = np.std(np.log(np.array(arm) / base), ddof=1)
    size = power.detectable_difference(4, stats.t.isf(0.025, 4)) * sd / math.sqrt(5)
    assert found.detectable == pytest.approx(100 * math.expm1(size))


def test_one_block_has_no_spread_of_ratios():
    found = differences(take(2.0), take(3.0))
    assert (found.ratio_of_means, found.ratio_sd, found.sd) == (1.5, None, None)


def test_two_values_that_were_looked_at_have_no_interval():
    found = summarise("a", [1.0, 2.0], 0.05, rule="until")
    assert found.sd is not None
    assert (found.ci, found.geometric_ci, found.geometric_mean) == (None, None, pytest.approx(math.sqrt(2)))


def test_two_blocks_are_enough_for_a_change_of_a_hundred_sds():
    assert blocks_to_detect(100.0, 1.0, 1000, 0.8).needed == 2


def test_machines_together_have_as_many_runs_as_all_of_them():
    observed = {name: {"a": take(*[1.0] * runs), "b": take(*[1.1] * runs)} for name, runs in (("x", 3), ("y", 5))}
    assert [each.n for each in analyse_machines(observed, Question("a", "lower")).summaries.values()] == [8, 8]


@pytest.mark.parametrize(("direction", "verdict"), [("lower", Verdict.UNCLEAR), ("none", None)])
def test_an_arm_that_no_machine_has_beside_the_baseline_is_unclear_where_it_is_judged(direction, verdict):
    observed = {
        "x": {"a": take(1.0, 2.0), "b": [], "c": take(1.0, 2.0)},
        "y": {"a": [], "b": take(1.0, 2.0), "c": []},
    }
    assert analyse_machines(observed, Question("a", direction)).comparisons["b"].verdict is verdict
