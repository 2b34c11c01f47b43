"""How often arms in no blocks are called different that are not: unequal numbers of runs, and runs like the one before.

In UNPAIRED_TABLES tables of each kind, in `make test-all` many more.
"""

import math
import os
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from runoff.statistics import Observation, Question, Verdict, analyse_unpaired

TABLES = int(os.environ.get("UNPAIRED_TABLES") or 60)
RATE = 0.055
Draw = Callable[[np.random.Generator, int], np.ndarray]


def two_modes(share: float) -> Draw:
    return lambda rng, n: np.where(rng.random(n) < share, 1.5, 1.0) * np.exp(0.01 * rng.standard_normal(n))


def like_the_last(r: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        values = rng.standard_normal(n)
        for place in range(1, n):
            values[place] = r * values[place - 1] + math.sqrt(1 - r * r) * values[place]
        return 100 + values

    return draw


SHAPES: Mapping[str, Draw] = {
    "normal": lambda rng, n: 100 + rng.standard_normal(n),
    "two modes, 20 %": two_modes(0.2),
    "two modes, 50 %": two_modes(0.5),
    "rare events": lambda rng, n: rng.poisson(0.1, n).astype(float),
    "skewed": lambda rng, n: np.exp(2 * rng.standard_normal(n)),
    "AR .3": like_the_last(0.3),
    "AR .6": like_the_last(0.6),
    "AR .9": like_the_last(0.9),
}


def count_false(shape: str, runs: tuple[int, ...]) -> int:
    """How many tables show a difference."""
    false = 0
    for number in range(TABLES):
        rng = np.random.default_rng([number, *runs])
        drawn = {f"arm{arm}": SHAPES[shape](rng, n) for arm, n in enumerate(runs)}
        arms = {arm: [Observation(float(v), i, i) for i, v in enumerate(values)] for arm, values in drawn.items()}
        found = analyse_unpaired(arms, Question("arm0", "lower", paired=False, margin=1e-9)).comparisons.values()
        false += any(each.verdict in (Verdict.BETTER, Verdict.WORSE) for each in found)
    return false


def is_kept(false: int) -> bool:
    return false / TABLES <= RATE + 3 * math.sqrt(RATE * (1 - RATE) / TABLES)


@pytest.mark.parametrize("runs", [(5, 40), (3, 30), (40, 5), (5, 40, 40, 40), (40, 5, 5, 5)])
@pytest.mark.parametrize("shape", ["normal", "two modes, 20 %", "two modes, 50 %", "rare events", "skewed"])
def test_unequal_numbers_of_runs(shape: str, runs: tuple[int, ...]) -> None:
    assert is_kept(count_false(shape, runs))


@pytest.mark.parametrize("runs", [(20, 20), (50, 50), (20, 60)])
@pytest.mark.parametrize("shape", ["AR .3", "AR .6", "AR .9"])
def test_runs_like_the_one_before(shape: str, runs: tuple[int, ...]) -> None:
    assert is_kept(count_false(shape, runs))
