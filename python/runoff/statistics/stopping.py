"""Intervals and p by the rule that decided how many values there are.

A planned number has Student's t, one that somebody looked for has the sequential rule. Two means that were stopped by
rules of their own are held apart by the sum of their intervals, each at half the level, so that it does not matter how
the two rules go together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runoff.results import StoppingRule
from runoff.statistics import sequential
from runoff.statistics.level import critical, level_for_each

SHARE: Mapping[StoppingRule, float] = {"planned": 1.0, "until": 1.0, "extended": 0.2}
"""Share of alpha that intervals and p have. Where a number of blocks was planned and raised after it had been seen, the
first look has had all of alpha by its own rule: with a fifth for those behind it both together err in 5.5 % of tables
at most (bench/two_looks.py)."""

_HALVINGS = 60
"""Steps that find p, each of which halves the range of its logarithm."""
_SMALLEST_LOG = -690.0


@dataclass(frozen=True, slots=True)
class Mean:
    """One mean of two that are compared."""

    n: int
    """Values, at least two."""
    error: float
    """Standard error."""
    rule: StoppingRule

    def find_half(self, level: float) -> float:
        """Return half of its interval at this ``level``; infinite where none would be rejected."""
        multiple = find_multiple(self.n, level, 1, self.rule)
        return math.inf if math.isinf(multiple) else multiple * self.error


def find_multiple(n: float, alpha: float, comparisons: int, rule: StoppingRule) -> float:
    """Return the multiple of the standard error beyond which one of ``comparisons`` means of ``n`` is separated."""
    if rule == "planned":
        return critical(alpha, comparisons, n - 1)
    return sequential.critical(n, level_for_each(SHARE[rule] * alpha, comparisons))


def spend(p: float, rule: StoppingRule) -> float:
    """Return ``p`` of looks that have a share of alpha, so that it is held against alpha like any other."""
    return min(1.0, p / SHARE[rule])


def find_half(means: Sequence[Mean], level: float) -> float:
    """Return half of the interval of the difference of two means."""
    return sum(each.find_half(level / len(means)) for each in means)


def find_p(means: Sequence[Mean], difference: float) -> float:
    """Return the smallest level at which the interval of a ``difference`` of two means excludes zero."""
    low, high = _SMALLEST_LOG, 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if find_half(means, math.exp(middle)) < abs(difference) else (middle, high)
    return math.exp(high)
