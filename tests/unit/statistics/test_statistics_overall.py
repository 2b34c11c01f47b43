"""Several tables in one: the geometric mean of ratios, block by block."""

import math
import random

import numpy as np
import pytest
from scipy import stats

from runoff.statistics import Observation, Question, geometric_mean

BLOCKS = 8


def table(seed: int, ratio: float, unit: float) -> dict[str, list[Observation]]:
    rng = random.Random(seed)
    return {
        arm: [Observation(unit * times * rng.uniform(0.9, 1.1), 2 * b + place, b) for b in range(BLOCKS)]
        for place, (arm, times) in enumerate((("base", 1.0), ("arm", ratio)))
    }


def test_it_is_the_mean_of_the_logarithms_of_each_block():
    """Units and sizes of the tables do not matter, only the ratios in each block."""
    tables = [table(1, 1.1, 1.0), table(2, 1.3, 1e6), table(3, 0.9, 1e-6)]
    logs = np.array([
        [math.log(a.value / b.value) for a, b in zip(t["arm"], t["base"], strict=True)] for t in tables
    ]).mean(axis=0)  # fmt: skip
    comparison = geometric_mean(tables, Question("base", "lower")).comparisons["arm"]
    assert comparison.percent == pytest.approx(100 * np.expm1(logs.mean()))
    assert comparison.sd == pytest.approx(logs.std(ddof=1))
    assert comparison.p >= stats.ttest_1samp(logs, 0).pvalue * (1 - 1e-9)
    assert comparison.verdict is None


def test_only_blocks_that_all_tables_have_count():
    first, second = table(1, 1.1, 1.0), table(2, 1.3, 1.0)
    second["arm"] = second["arm"][2:]
    first["base"] = first["base"][:-1]
    whole = geometric_mean([first, second], Question("base", "lower"))
    assert whole.comparisons["arm"].n == BLOCKS - 3
    assert geometric_mean([first, {**second, "arm": []}], Question("base", "lower")).comparisons["arm"].n == 0
