"""Numbers in, numbers out: what the samples of one metric support.

``analyse`` is the only entry point; everything it returns is a plain value from ``values``. The
modules that compute import scipy, so they are imported on the first call and not before.
"""

from collections.abc import Mapping, Sequence

from runoff.statistics.values import (
    DEFAULT_ALPHA,
    DEFAULT_MARGIN,
    Analysis,
    Anova,
    Comparison,
    Interval,
    Observation,
    Pair,
    Question,
    Summary,
    Verdict,
    Warning,
)

__all__ = [
    "DEFAULT_ALPHA",
    "DEFAULT_MARGIN",
    "Analysis",
    "Anova",
    "Comparison",
    "Interval",
    "Observation",
    "Pair",
    "Question",
    "Summary",
    "Verdict",
    "Warning",
    "analyse",
]


def analyse(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Compare the arms on one metric; see ``runoff.statistics.compare.analyse``."""
    from runoff.statistics import compare

    return compare.analyse(arms, question)
