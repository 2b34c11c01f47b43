"""One metric, all arms: from observations to the analysis that reports show."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runoff.statistics import checks
from runoff.statistics.blocks import Differences, differences
from runoff.statistics.describe import summarise_arms
from runoff.statistics.spread import compare_spread
from runoff.statistics.values import Analysis, Comparison, Observation, Question, Verdict
from runoff.statistics.verdict import compare

FEW = 5
"""Blocks from which on an arm's own SD is enough (tests/property/test_few_blocks_simulation.py)."""


def analyse(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Describe each arm, and compare each with the baseline within blocks.

    ``arms`` holds all arms in plan order, those without a valid sample as empty sequences; the
    baseline is one of them, and no arm has two observations of one block. Raises ValueError otherwise.
    """
    for arm, observations in arms.items():
        if len({o.block for o in observations}) < len(observations):
            raise ValueError(f"{arm!r} has two values in one block: a block is one pass over all arms")
    summaries = summarise_arms(arms, question)
    found = {arm: differences(arms[question.baseline], arms[arm]) for arm in arms if arm != question.baseline}
    least_sd = _pool_sd([each for each in found.values() if each is not None])
    comparisons = {arm: _compare(arm, arms, found.get(arm), question, least_sd) for arm in arms}
    return Analysis(question, summaries, comparisons, checks.find_warnings(arms, summaries, comparisons, question))


def _pool_sd(found: Sequence[Differences]) -> float:
    """Return the SD that all arms of a table have together; 0 where their differences are of different kinds.

    With three or four blocks and several arms one of them agrees by chance where values come in clusters, and its own
    SD then says that a chance is certain.
    """
    known = [each.sd for each in found if each.sd is not None]
    if len(known) < 2 or len({each.logs for each in found}) > 1:
        return 0.0
    return math.sqrt(math.fsum(sd**2 for sd in known) / len(known))


def _compare(
    arm: str,
    arms: Mapping[str, Sequence[Observation]],
    found: Differences | None,
    question: Question,
    least_sd: float,
) -> Comparison:
    """Compare one arm; arms without a sample count too, so that voids do not change the correction."""
    if not arms[arm]:
        return Comparison(arm, verdict=Verdict.VOID)
    if arm == question.baseline:
        return Comparison(arm)
    if found is None:
        return Comparison(arm, verdict=None if question.direction == "none" else Verdict.UNCLEAR)
    compared = compare(arm, found, question, len(arms) - 1, least_sd if found.n < FEW else 0.0)
    if question.direction == "none":
        return compared
    spread = compare_spread(arms[question.baseline], arms[arm], question, len(arms) - 1)
    return replace(compared, spread=spread)
