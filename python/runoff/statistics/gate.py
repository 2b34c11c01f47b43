"""Whether an arm is worse than a limit allows.

Numbers here are logarithms of ratios to the baseline, turned so that worse is above zero.
"""

from collections.abc import Sequence
from enum import StrEnum

from runoff.statistics.values import Interval


class Outcome(StrEnum):
    """The outcome of one comparison, and of a gate."""

    FINE = "fine"
    UNCLEAR = "cannot tell"
    WORSE = "worse"
    REGRESSED = "regressed"


GRAVEST_LAST = tuple(Outcome)
"""What counts of several comparisons is the last of these that one of them has."""


def judge_comparison(
    estimate: float, interval: Interval | None, limit: float, separated: bool, step: float = 0.0
) -> Outcome:
    """Return the outcome of one comparison.

    Regressed: the interval is beyond the limit. Worse: the estimate is, and the report says that there is a difference
    (``separated``), which may be one within the limit. Fine: the whole interval is within the limit. What the digits of
    the values leave open (``step``) is added to the interval on both sides.
    """
    if interval is None:
        return Outcome.UNCLEAR
    if interval.low - step > limit:
        return Outcome.REGRESSED
    if separated and estimate > limit:
        return Outcome.WORSE
    return Outcome.FINE if interval.high + step <= limit else Outcome.UNCLEAR


def combine_outcomes(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a gate: one regression fails it, and it is fine only if all comparisons are."""
    return max(outcomes, key=GRAVEST_LAST.index, default=Outcome.UNCLEAR)
