"""How often reports of three or four blocks and several arms show a difference that is none, where values cluster.

In FEW_REPORTS of each kind, in `make test-all` many more.
"""

import math
import os
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from runoff.statistics import Observation, Question, Verdict, analyse, judge_family

REPORTS = int(os.environ.get("FEW_REPORTS") or 40)
RATE = 0.055
TABLES = 2
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
SHAPES: Mapping[str, Draw] = {
    "two modes": lambda rng, shape: np.where(rng.random(shape) < 0.5, 90, 110) * np.exp(
        0.001 * rng.standard_normal(shape)
    ),
    "whole numbers": lambda rng, shape: np.round(10 + 0.6 * rng.standard_normal(shape)),
    "normal": lambda rng, shape: 100 + rng.standard_normal(shape),
}  # fmt: skip


def observe(values: np.ndarray, arm: int) -> list[Observation]:
    return [Observation(float(v), 2 * b + (arm + b) % 2, b) for b, v in enumerate(values)]


def is_false(shape: str, arms: int, blocks: int, number: int) -> bool:
    drawn = SHAPES[shape](np.random.default_rng([number, arms, blocks]), (TABLES, arms, blocks))
    every = [{f"arm{arm}": observe(values, arm) for arm, values in enumerate(table)} for table in drawn]
    found = judge_family([analyse(arms, Question("arm0", "lower", tables=TABLES, margin=1e-9)) for arms in every])
    verdicts = [each.verdict for analysis in found for each in analysis.comparisons.values()]
    return bool({Verdict.BETTER, Verdict.WORSE} & {*verdicts})


@pytest.mark.parametrize("arms", [3, 4, 8, 15])
@pytest.mark.parametrize("blocks", [3, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_reports_seldom_show_a_difference_that_is_none(shape: str, blocks: int, arms: int) -> None:
    false = sum(is_false(shape, arms, blocks, number) for number in range(REPORTS))
    assert false / REPORTS <= RATE + 3 * math.sqrt(RATE * (1 - RATE) / REPORTS)


def test_a_difference_far_beyond_the_noise_is_seen() -> None:
    rng = np.random.default_rng(1)
    values = 100 + rng.standard_normal((8, 4))
    values[3] *= 2
    found = analyse({f"arm{arm}": observe(each, arm) for arm, each in enumerate(values)}, Question("arm0", "lower"))
    assert found.comparisons["arm3"].verdict is Verdict.WORSE
