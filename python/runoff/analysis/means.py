"""Which kind of mean a table can show without contradicting its changes, which are of geometric means."""

import math

from runoff.statistics import Analysis, Comparison

MOST_APART = 0.1
"""How far the logarithms of two ratios may be apart that stand in one row."""


def needs_geometric_means(analysis: Analysis) -> bool:
    """Return whether an arithmetic mean is on the other side of the baseline than the change, or another 10 % away
    from it. A few runs that are far slower do that."""
    return any(_contradicts(comparison, analysis) for comparison in analysis.comparisons.values())


def _contradicts(comparison: Comparison, analysis: Analysis) -> bool:
    own, theirs = analysis.summaries.get(comparison.arm), analysis.summaries.get(analysis.question.baseline)
    if comparison.log_mean is None or own is None or theirs is None:
        return False
    arithmetic = math.log(own.mean / theirs.mean)
    return arithmetic * comparison.log_mean < 0 or abs(arithmetic - comparison.log_mean) > MOST_APART
