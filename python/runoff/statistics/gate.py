"""Whether an arm is worse than a limit allows, and how often a gate with that limit is wrong.

Numbers here are logarithms of ratios to the baseline, turned so that worse is above zero.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from runoff.statistics.values import Interval

DRAWS = 20_000

LEAST_COMMON = 3
"""Blocks that two comparisons must share before they are taken to go together."""

_Places = npt.NDArray[np.int_]


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


@dataclass(frozen=True, slots=True)
class RiskInput:
    """What the chances of one comparison depend on."""

    n: int
    """Blocks, at least two."""
    sd: float
    limit: float
    critical: float
    """Half of an interval's width in standard errors."""
    critical_joint: float
    """Chances for all comparisons of the report together."""
    step: float = 0.0
    """What the digits of the values leave open."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How often a gate ends in which way."""

    fine: float
    unclear: float
    worse: float
    regressed: float


@dataclass(frozen=True, slots=True)
class Risk:
    """Chances of a gate, if this noise is all there is to know."""

    unchanged: Chances
    """Chances where no arm differs."""
    at_half: Chances
    """Chances where one comparison is worse by half the limit: that with the widest interval, which shows it least."""
    at_limit: Chances
    """Chances where it is worse by just the limit."""
    at_twice: Chances
    """Chances where it is worse by twice the limit."""


def correlation(series: Sequence[Mapping[int, float]]) -> list[list[float]]:
    """Return correlations of comparisons, given by their differences by block, over the blocks that two share."""
    return [[_correlation(one, other) for other in series] for one in series]


def _correlation(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    common = sorted(set(one) & set(other))
    if one is other:
        return 1.0
    if len(common) < LEAST_COMMON:
        return 0.0
    first, second = (np.array([series[block] for block in common]) for series in (one, other))
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > 0 else 0.0


def estimate_risk(judged: Sequence[RiskInput], correlated: Sequence[Sequence[float]]) -> Risk:
    """Return the risk of a gate over all of ``judged`` (at least one), whose means correlate as ``correlated``.

    Drawn 20,000 times by a generator of its own: the same each time, with a standard error of 0.35 points at most.
    """
    draw = np.random.default_rng(1)
    values, vectors = np.linalg.eigh(np.asarray(correlated, dtype=float))
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    # Correlations over different blocks need not fit together: what was cut off is made up for.
    factor /= np.linalg.norm(factor, axis=1, keepdims=True)
    means = draw.standard_normal((DRAWS, len(judged))) @ factor.T
    spreads = np.column_stack([np.sqrt(draw.chisquare(each.n - 1, DRAWS) / (each.n - 1)) for each in judged])

    def ends(index: int, by: float) -> _Places:
        """Return the outcomes as indices of `GRAVEST_LAST`."""
        each = judged[index]
        error = each.sd / math.sqrt(each.n)
        estimate, spread = means[:, index] * error + by * each.limit, spreads[:, index] * error
        half = each.critical * spread + each.step
        is_worse = (estimate > each.limit) & (estimate - each.critical_joint * spread > 0)
        places = np.where(estimate + half <= each.limit, 0, np.where(is_worse, 2, 1))
        return np.where(estimate - half > each.limit, 3, places)

    unchanged = np.column_stack([ends(index, 0.0) for index in range(len(judged))])
    noisiest = max(range(len(judged)), key=lambda index: _width(judged[index]))

    def chances(by: float) -> Chances:
        places = unchanged.copy()
        places[:, noisiest] = ends(noisiest, by)
        gravest = places.max(axis=1)
        return Chances(*(float((gravest == place).mean()) for place in range(len(GRAVEST_LAST))))

    return Risk(*(chances(by) for by in (0.0, 0.5, 1.0, 2.0)))


def _width(each: RiskInput) -> float:
    """Return the width of the intervals, in limits."""
    return each.critical * each.sd / math.sqrt(each.n) / each.limit
