"""With three or four blocks an arm's own SD is not believed below that of all arms of the table."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from runoff.statistics import Analysis, Observation, Question, analyse

BASE = [100.0, 103.0, 98.0, 101.0, 99.0]
CALM = [110.0, 113.4, 107.9, 111.2, 108.8]
WILD = [120.0, 95.0, 131.0, 104.0, 90.0]
CROSSING = [5.0, -3.0, 8.0, 1.0, 2.0]


def judge(blocks: int, **arms: Sequence[float]) -> Analysis:
    observed = {
        arm: [Observation(value, len(arms) * block + place, block) for block, value in enumerate(values[:blocks])]
        for place, (arm, values) in enumerate(arms.items())
    }
    return analyse(observed, Question("base", "lower"))


def own_sd(values: Sequence[float], blocks: int) -> float:
    return float(np.std(np.log(values[:blocks]) - np.log(BASE[:blocks]), ddof=1))


@pytest.mark.parametrize("blocks", [3, 4])
def test_a_calm_arm_has_the_sd_of_all_and_a_wild_one_its_own(blocks: int):
    found = judge(blocks, base=BASE, calm=CALM, wild=WILD).comparisons
    pooled = math.sqrt((own_sd(CALM, blocks) ** 2 + own_sd(WILD, blocks) ** 2) / 2)
    assert found["calm"].sd == pytest.approx(pooled)
    assert found["wild"].sd == pytest.approx(own_sd(WILD, blocks))


def test_five_blocks_are_enough():
    assert judge(5, base=BASE, calm=CALM, wild=WILD).comparisons["calm"].sd == pytest.approx(own_sd(CALM, 5))


def test_one_arm_and_arms_in_other_units_have_their_own():
    assert judge(3, base=BASE, calm=CALM).comparisons["calm"].sd == pytest.approx(own_sd(CALM, 3))
    both = judge(3, base=BASE, calm=CALM, other=CROSSING).comparisons
    assert both["calm"].sd == pytest.approx(own_sd(CALM, 3))
