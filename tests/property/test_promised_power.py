"""The smallest change that is seen in 80 % is seen in 80 %, among all tables of a report.

In POWER_REPORTS reports of each kind, in `make test-all` many more.
"""

import math
import os

import numpy as np
import pytest

from runoff.statistics import Analysis, Observation, Question, Verdict, analyse, analyse_unpaired, judge_family
from runoff.statistics.level import critical
from runoff.statistics.power import detectable_difference

REPORTS = int(os.environ.get("POWER_REPORTS") or 60)
NOISE = 0.01
PROMISES = 60
OFF = 0.05
"""How far the chance may be off."""


def is_near(count: int) -> bool:
    return abs(count / REPORTS - 0.8) <= OFF + 3 * math.sqrt(0.8 * 0.2 / REPORTS)


def observe(values: np.ndarray, arm: int) -> list[Observation]:
    return [Observation(math.exp(NOISE * v), 2 * b + (arm + b) % 2, b) for b, v in enumerate(values)]


def count_seen(tables: int, runs: tuple[int, ...], change: float, *, paired: bool) -> int:
    """How many reports find a change of the first arm of the first table, where nothing else differs."""
    question = Question("arm0", "lower", tables=tables, margin=1e-6, paired=paired)
    seen = 0
    for number in range(REPORTS):
        rng = np.random.default_rng([number, tables, *runs])
        analyses: list[Analysis] = []
        for table in range(tables):
            drawn = [rng.standard_normal(n) - (change if (table, arm) == (0, 1) else 0) for arm, n in enumerate(runs)]
            arms = {f"arm{arm}": observe(values, arm) for arm, values in enumerate(drawn)}
            analyses.append((analyse if paired else analyse_unpaired)(arms, question))
        seen += judge_family(analyses)[0].comparisons["arm1"].verdict is Verdict.BETTER
    return seen


@pytest.mark.parametrize("tables", [1, 4, 9])
@pytest.mark.parametrize(("blocks", "arms"), [(5, 2), (20, 2), (10, 4)])
def test_in_blocks(tables: int, blocks: int, arms: int) -> None:
    joint = (arms - 1) * tables
    change = detectable_difference(blocks - 1, critical(0.05, joint, blocks - 1)) * math.sqrt(2 / blocks)
    assert is_near(count_seen(tables, (blocks,) * arms, change, paired=True))


@pytest.mark.parametrize("tables", [1, 4])
@pytest.mark.parametrize("runs", [(10, 10), (5, 40), (40, 5)])
def test_in_no_blocks(tables: int, runs: tuple[int, int]) -> None:
    """With what such reports promise on average."""
    promised = []
    for number in range(PROMISES):
        rng = np.random.default_rng([number, *runs])
        arms = {f"arm{arm}": observe(rng.standard_normal(n), arm) for arm, n in enumerate(runs)}
        found = analyse_unpaired(arms, Question("arm0", "lower", tables=tables, paired=False)).comparisons["arm1"]
        promised.append(math.log1p((found.detectable or 0) / 100) / NOISE)
    change = float(np.mean(promised))
    assert is_near(count_seen(tables, runs, change, paired=False))


def test_signs_that_are_too_coarse_promise_nothing() -> None:
    values = np.random.default_rng(1).standard_normal((2, 8))
    arms = {f"arm{arm}": observe(each, arm) for arm, each in enumerate(values)}
    alone, among = (analyse(arms, Question("arm0", "lower", tables=tables)) for tables in (1, 4))
    assert alone.comparisons["arm1"].detectable is not None
    assert among.comparisons["arm1"].detectable is None
