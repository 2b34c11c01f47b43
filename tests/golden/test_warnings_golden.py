"""The warnings of a table, sentence by sentence: each kind at least once."""

import math
import random
from collections.abc import Iterator
from typing import get_args

from approved import assert_approved, list_cases
from compared import BASE, NEAR, SLOWER, WIDE, compare, on_grid

from runoff.report.words.warnings import describe_warning
from runoff.statistics import Analysis, Observation, Question, analyse
from runoff.statistics.values import WarningKind

OF_SEVERAL_MACHINES = {"machines", "one_block"}
OF_SEVERAL_TABLES = {"together"}
RISING = {"base": [100.0, 103, 106, 109, 112, 115], "arm": [101.0, 104, 107, 110, 113, 116]}


def take_in_order() -> Analysis:
    """Each block is slower than the one before, and the arm always came last."""
    values = {"base": [100.0, 104, 108.1, 112, 116.1], "arm": [102.0, 106, 110.1, 114.1, 118]}
    return analyse(
        {
            arm: [Observation(value, 2 * block + place, block) for block, value in enumerate(series)]
            for place, (arm, series) in enumerate(values.items())
        },
        Question("base", "lower"),
    )


def take_alike() -> Analysis:
    """Blocks that follow each other are alike."""
    drawn = random.Random(1)
    levels = [math.sin(block / 8) for block in range(50)]
    base = [100 + drawn.gauss(0, 0.1) for _ in levels]
    return compare({"base": base, "arm": [v + level for v, level in zip(base, levels, strict=True)]})


def take_with_a_stall() -> Analysis:
    drawn = random.Random(1)
    base, arm = ([100 * math.exp(drawn.gauss(0, 0.01)) for _ in range(100)] for _ in range(2))
    return compare({"base": base, "arm": [2 * arm[0], *arm[1:]]}, margin=0.025)


CASES = {
    "one block": compare({"base": [10.0], "arm": [30.0]}),
    "four blocks": compare({"base": BASE[:4], "arm": SLOWER[:4]}),
    "copies of one run": compare({"base": [12.0] * 9, "arm": [13.0] * 9}, repeats_exactly=True),
    "one number": compare({"base": [5.0] * 45, "arm": [5.0] * 45, "third": [5.0] * 45}),
    "steps as large as the margin": compare(on_grid(0.065, 0.2, 3, base=9.4, n=20)),
    "two arms are one number": compare(
        {"base": [5.0] * 20, "arm": [5.0] * 20, "third": [5.0 + 0.1 * (i % 4) for i in range(20)]}
    ),
    "drift": compare(RISING),
    "order": take_in_order(),
    "blocks that go together": take_alike(),
    "outliers": compare({"base": [*BASE, 180.0], "arm": [*SLOWER, 121.0]}),
    "a void baseline": compare({"base": [], "arm": BASE, "other": SLOWER}),
    "nothing valid": compare({"base": [], "arm": []}),
    "within the margin": compare({"base": BASE * 2, "arm": NEAR * 2}),
    "within the margin, and how long more take": compare({"base": BASE, "arm": NEAR}, seconds_per_block=120.0),
    "unclear": compare({"base": BASE, "arm": WIDE}),
    "unclear, and how long more take": compare({"base": BASE, "arm": WIDE}, seconds_per_block=1.0),
    "two that are unclear": compare({"base": WIDE, "arm": WIDE[::-1], "wider": sorted(WIDE)}),
    "unclear by a stall": take_with_a_stall(),
    "unclear by a step": compare(on_grid(0.0, 0.1, 1, grid=0.05, n=20), margin=0.011),
    "before the first look": compare(on_grid(0.0, 0.01, 1, grid=0.001, n=8), stopping="until"),
}


def list_sentences() -> Iterator[tuple[str, str]]:
    for case, analysis in CASES.items():
        yield case, "\n".join(f"{each.kind}: {describe_warning(each, analysis)}" for each in analysis.warnings)


def test_each_case_is_said_as_approved() -> None:
    assert_approved("words/warnings.txt", list_cases(dict(list_sentences())))


def test_every_kind_is_among_them() -> None:
    shown = {warning.kind for analysis in CASES.values() for warning in analysis.warnings}
    assert shown == set(get_args(WarningKind)) - OF_SEVERAL_MACHINES - OF_SEVERAL_TABLES
