"""One metric, all arms: from observations to the analysis that reports show."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runoff.statistics import checks
from runoff.statistics.blocks import differences
from runoff.statistics.describe import summarise_arms
from runoff.statistics.spread import compare_spread
from runoff.statistics.values import Analysis, Comparison, Observation, Question, Verdict
from runoff.statistics.verdict import compare


def analyse(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Describe each arm, and compare each with the baseline within blocks.

    ``arms`` holds all arms in plan order, those without a valid sample as empty sequences; the
    baseline is one of them, and no arm has two observations of one block. Raises ValueError otherwise.
    """
    for arm, observations in arms.items():
        if len({o.block for o in observations}) < len(observations):
            raise ValueError(f"{arm!r} has two values in one block: a block is one pass over all arms")
    summaries = summarise_arms(arms, question)
    comparisons = {arm: _compare(arm, arms, question) for arm in arms}
    return Analysis(question, summaries, comparisons, checks.find_warnings(arms, summaries, comparisons, question))


def _compare(arm: str, arms: Mapping[str, Sequence[Observation]], question: Question) -> Comparison:
    """Compare one arm; arms without a sample count too, so that voids do not change the correction."""
    if not arms[arm]:
        return Comparison(arm, verdict=Verdict.VOID)
    if arm == question.baseline:
        return Comparison(arm)
    found = differences(arms[question.baseline], arms[arm])
    if found is None:
        return Comparison(arm, verdict=None if question.direction == "none" else Verdict.UNCLEAR)
    compared = compare(arm, found, question, len(arms) - 1)
    if question.direction == "none":
        return compared
    spread = compare_spread(arms[question.baseline], arms[arm], question, len(arms) - 1)
    return replace(compared, spread=spread)
