"""The linear model of the classic analysis: arms as the only factor, one error for all."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from scipy import special

from runoff.statistics.values import Anova, Summary

FARTHEST = 1e100
"""Means this many SDs apart give p = 0 at any sample size, and their squares are still floats."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Estimated arm means with a common error."""

    means: Mapping[str, float]
    counts: Mapping[str, int]
    sd: float
    df: int

    def standard_error(self, first: str, second: str) -> float:
        """Return the standard error of the difference of two arms' means."""
        return self.sd * math.sqrt(1 / self.counts[first] + 1 / self.counts[second])


def fit_one_way(summaries: Mapping[str, Summary]) -> Fit | None:
    """Fit arms as the only factor, variance pooled over all arms; None if no arm was replicated."""
    df = sum(summary.n - 1 for summary in summaries.values())
    if df == 0:
        return None
    scale = max((summary.sd or 0.0) for summary in summaries.values())
    pooled = 0.0
    if scale > 0:
        pooled = scale * math.sqrt(sum((s.n - 1) * ((s.sd or 0.0) / scale) ** 2 for s in summaries.values()) / df)
    means = {arm: summary.mean for arm, summary in summaries.items()}
    return Fit(means, {arm: summary.n for arm, summary in summaries.items()}, pooled, df)


def anova(fit: Fit) -> Anova | None:
    """Test with F whether all arms have the same mean; None for fewer than two arms."""
    between = len(fit.means) - 1
    if between < 1:
        return None
    if fit.sd == 0:
        return Anova(between, fit.df, 0.0, None, None, None)
    total = sum(fit.counts.values())
    origin = next(iter(fit.means.values()))
    shifts = {arm: max(-FARTHEST, min(FARTHEST, (mean - origin) / fit.sd)) for arm, mean in fit.means.items()}
    grand = sum(fit.counts[arm] * shift for arm, shift in shifts.items()) / total
    square_sum = sum(fit.counts[arm] * (shift - grand) ** 2 for arm, shift in shifts.items())
    f = square_sum / between
    return Anova(
        between, fit.df, fit.sd, f, float(special.fdtrc(between, fit.df, f)), square_sum / (square_sum + fit.df)
    )
