"""The blocks that a report names decide in 80 % of campaigns that go on to them, by the verdicts of the report.

In ADVICE_CAMPAIGNS of each kind, in `make test-all` many more.
"""

import math
import os
from dataclasses import replace

import numpy as np
import pytest

from runoff.statistics import OPEN, Analysis, Observation, Question, Verdict, analyse, judge_family

CAMPAIGNS = int(os.environ.get("ADVICE_CAMPAIGNS") or 40)
OFF = 0.05
"""How far the chance may be off."""
MOST = 1000
"""Blocks that are drawn; advice beyond is left out of count."""


def observe(values: np.ndarray, arm: int, void: int) -> list[Observation]:
    return [Observation(math.exp(v), 2 * b + (arm + b) % 2, b) for b, v in enumerate(values) if b >= void or arm == 0]


def judge(drawn: np.ndarray, question: Question, void: int = 0) -> tuple[Analysis, ...]:
    """``drawn`` is tables x arms x blocks."""
    every = [{f"arm{arm}": observe(values, arm, void) for arm, values in enumerate(table)} for table in drawn]
    return judge_family([analyse(arms, replace(question, tables=len(drawn))) for arms in every])


def count_decided(blocks: int, tables: int, arms: int, truth: float, void: int = 0) -> tuple[int, int]:
    """How many of the campaigns that got advice were decided as it said, and how many there were; in the first
    ``void`` blocks all but the baseline is void.

    Advice on a difference is for one as it was seen, so that one is what later blocks have.
    """
    decided = given = 0
    number = 0
    while given < CAMPAIGNS:
        number += 1
        rng = np.random.default_rng([number, blocks, tables, arms, round(1000 * truth)])
        drawn = 0.02 / math.sqrt(2) * rng.standard_normal((tables, arms, MOST))
        drawn[0, 1, :blocks] += truth
        first = judge(drawn[:, :, :blocks], Question("arm0", "lower", taken=blocks, rare=0.2), void)
        comparison = first[0].comparisons["arm1"]
        advice = comparison.advice
        if comparison.verdict not in OPEN or advice is None or advice.blocks > MOST:
            continue
        given += 1
        drawn[0, 1, blocks:] += comparison.log_mean if advice.towards == "difference" else 0.0
        later = Question("arm0", "lower", taken=advice.blocks, rare=0.2, stopping="extended")
        found = judge(drawn[:, :, : advice.blocks], later, void)[0].comparisons["arm1"]
        wanted = {"same": (Verdict.SAME,), "difference": (Verdict.BETTER, Verdict.WORSE)}[advice.towards]
        decided += found.verdict in wanted
    return decided, given


@pytest.mark.parametrize("errors", [0.0, 1.0])
@pytest.mark.parametrize(
    ("blocks", "tables", "arms", "void"), [(5, 1, 2, 0), (10, 1, 2, 0), (10, 3, 3, 0), (10, 1, 2, 2)]
)
def test_blocks_decide(blocks: int, tables: int, arms: int, void: int, errors: float) -> None:
    truth = errors * 0.02 / math.sqrt(blocks)
    decided, given = count_decided(blocks, tables, arms, truth, void)
    assert abs(decided / given - 0.8) <= OFF + 3 * math.sqrt(0.8 * 0.2 / given)
