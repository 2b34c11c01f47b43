"""The size of a difference in a unit that all metrics share."""

import math

from runoff.statistics.values import Analysis


def standardised(analysis: Analysis, arm: str) -> float | None:
    """``arm`` less the baseline in pooled standard deviations (Cohen 1988, d; all arms are pooled).

    Infinite where no arm has any spread; None without a difference or without a replicated arm.
    """
    difference = analysis.comparisons[arm].difference
    if not difference or analysis.anova is None:
        return None
    sd = analysis.anova.sd_pooled
    return difference / sd if sd else math.copysign(math.inf, difference)
