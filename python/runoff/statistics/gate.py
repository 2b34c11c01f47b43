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

_Bools = npt.NDArray[np.bool_]


class Outcome(StrEnum):
    """Of one comparison, and of a gate."""

    FINE = "fine"
    REGRESSED = "regressed"
    UNCLEAR = "cannot tell"


def outcome(estimate: float, interval: Interval | None, limit: float, separated: bool) -> Outcome:
    """Of one comparison.

    Regressed: the interval is beyond the limit, or the estimate is and the report says that there is a difference
    (``separated``). Fine: the whole interval is within the limit.
    """
    if interval is None:
        return Outcome.UNCLEAR
    if interval.low > limit or (separated and estimate > limit):
        return Outcome.REGRESSED
    return Outcome.FINE if interval.high <= limit else Outcome.UNCLEAR


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Of a gate: one regression is one, and fine is only what is fine throughout."""
    if Outcome.REGRESSED in outcomes:
        return Outcome.REGRESSED
    return Outcome.FINE if outcomes and set(outcomes) == {Outcome.FINE} else Outcome.UNCLEAR


@dataclass(frozen=True, slots=True)
class Judged:
    """What the chances of one comparison depend on."""

    n: int
    """Blocks, at least two."""
    sd: float
    limit: float
    critical: float
    """Half of an interval's width in standard errors."""
    critical_joint: float
    """The same for all comparisons of the report together."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How often a gate ends in which way."""

    fine: float
    regressed: float
    unclear: float


@dataclass(frozen=True, slots=True)
class Risk:
    """Chances of a gate, if this noise is all there is to know."""

    unchanged: Chances
    """No arm differs."""
    at_limit: Chances
    """One comparison is worse by just the limit: that with the widest interval, which shows it least."""
    at_twice: Chances
    """The same by twice the limit."""


def correlation(series: Sequence[Mapping[int, float]]) -> list[list[float]]:
    """Of comparisons, each given as its differences by block, over the blocks that two of them share."""
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


def risk(judged: Sequence[Judged], correlated: Sequence[Sequence[float]]) -> Risk:
    """Of a gate over all of ``judged`` (at least one), whose means go together by ``correlated``.

    Drawn 20,000 times by a generator of its own: the same each time, with a standard error of 0.35 points at most.
    """
    draw = np.random.default_rng(1)
    values, vectors = np.linalg.eigh(np.asarray(correlated, dtype=float))
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    # Correlations over different blocks need not fit together: what was cut off is made up for.
    factor /= np.linalg.norm(factor, axis=1, keepdims=True)
    means = draw.standard_normal((DRAWS, len(judged))) @ factor.T
    spreads = np.column_stack([np.sqrt(draw.chisquare(each.n - 1, DRAWS) / (each.n - 1)) for each in judged])

    def ends(index: int, by: float) -> tuple[_Bools, _Bools]:
        each = judged[index]
        error = each.sd / math.sqrt(each.n)
        estimate, spread = means[:, index] * error + by * each.limit, spreads[:, index] * error
        worse = (estimate - each.critical * spread > each.limit) | (
            (estimate > each.limit) & (estimate - each.critical_joint * spread > 0)
        )
        return (estimate + each.critical * spread <= each.limit) & ~worse, worse

    every = [ends(index, 0.0) for index in range(len(judged))]
    fine, worse = (np.column_stack([pair[which] for pair in every]) for which in (0, 1))

    def chances(index: int | None, by: float) -> Chances:
        now_fine, now_worse = fine, worse
        if index is not None:
            now_fine, now_worse = fine.copy(), worse.copy()
            now_fine[:, index], now_worse[:, index] = ends(index, by)
        is_worse = now_worse.any(axis=1)
        is_fine = now_fine.all(axis=1) & ~is_worse
        shares = float(is_fine.mean()), float(is_worse.mean())
        return Chances(*shares, float((~is_fine & ~is_worse).mean()))

    noisiest = max(range(len(judged)), key=lambda index: _width(judged[index]))
    return Risk(chances(None, 0.0), chances(noisiest, 1.0), chances(noisiest, 2.0))


def _width(each: Judged) -> float:
    """Of its intervals, in limits."""
    return each.critical * each.sd / math.sqrt(each.n) / each.limit
