"""One arm at a time: moments, quantiles and the intervals of mean and median."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from scipy import special

from runoff.results import StoppingRule
from runoff.statistics.stopping import find_multiple
from runoff.statistics.values import DEFAULT_MARGIN, LARGEST_LOG, Interval, Observation, Quantiles, Question, Summary

ROUNDING = 1e-12
"""A relative spread below this is the rounding of binary fractions, not a measurement."""

FENCE = 3.0
"""Quartile distances beyond the quartiles from which a value is far out (Tukey 1977)."""

FEWEST_FENCED = 7
"""The quartiles of fewer values lie so near to the extremes that no value is beyond the fences, but by rounding."""


def is_constant(values: Sequence[float]) -> bool:
    """Return whether all values are equal up to rounding."""
    return max(values) - min(values) <= ROUNDING * max(abs(min(values)), abs(max(values)))


def summarise_arms(arms: Mapping[str, Sequence[Observation]], question: Question) -> dict[str, Summary]:
    """Describe each arm that has a value. Raises ValueError unless the baseline is one of the arms."""
    if question.baseline not in arms:
        raise ValueError(f"baseline {question.baseline!r} is not one of the arms: {', '.join(arms)}")
    return {
        arm: summarise(
            arm, [o.value for o in observations], question.alpha, question.margin, question.select(arm).stopping
        )
        for arm, observations in arms.items()
        if observations
    }


def summarise(
    arm: str,
    values: Sequence[float],
    alpha: float,
    margin: float = DEFAULT_MARGIN,
    rule: StoppingRule = "planned",
) -> Summary:
    """Describe one arm's ``values`` (at least one, finite, in run order).

    Quantiles follow JMP's rule: rank p(n + 1), linear between neighbours, clamped to the extremes
    (Hyndman and Fan 1996, type 6; numpy's ``weibull``). Outliers are beyond Tukey's outer fences, and farther than
    ``margin`` from the median. ``rule`` is how their number came about, which the intervals of the means allow for;
    the median's does not.
    """
    n = len(values)
    q10, q25, median, q75, q90 = (
        float(q) for q in np.quantile(np.asarray(values), [0.1, 0.25, 0.5, 0.75, 0.9], method="weibull")
    )
    mean, sd = moments(values)
    half = _find_half(sd, n, alpha, rule)
    ci = None if half is None else Interval(mean - half, mean + half)
    outliers: tuple[float, ...] = ()
    if n >= FEWEST_FENCED:
        low, high = q25 - FENCE * (q75 - q25), q75 + FENCE * (q75 - q25)
        outliers = tuple(v for v in values if not low <= v <= high and abs(v - median) > margin * abs(median))
    geometric, geometric_ci = _summarise_logs(values, alpha, rule)
    return Summary(
        arm, n, mean, sd, ci, Quantiles(min(values), q10, q25, median, q75, q90, max(values)),
        median_interval(values, alpha), outliers, geometric, geometric_ci,
    )  # fmt: skip


def _find_half(sd: float | None, n: int, alpha: float, rule: StoppingRule) -> float | None:
    """Return half of the interval of a mean of ``n`` values; None where they are too few for one."""
    multiple = find_multiple(n, alpha, 1, rule) if sd is not None else math.inf
    return None if sd is None or math.isinf(multiple) else multiple * sd / math.sqrt(n)


def _summarise_logs(values: Sequence[float], alpha: float, rule: StoppingRule) -> tuple[float | None, Interval | None]:
    """Return the geometric mean and its interval; None where a value is not positive."""
    if min(values) <= 0:
        return None, None
    mean, sd = moments([math.log(value) for value in values])
    half = _find_half(sd, len(values), alpha, rule)
    if half is None:
        return math.exp(mean) if sd is not None else values[0], None
    ends = (min(LARGEST_LOG, max(-LARGEST_LOG, end)) for end in (mean - half, mean + half))
    return math.exp(mean), Interval(*(math.exp(end) for end in ends))


def moments(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and sample SD; values are scaled first, so that squares neither overflow nor vanish."""
    if is_constant(values):
        return values[0], 0.0 if len(values) > 1 else None
    scale = max(abs(value) for value in values)
    scaled = np.asarray(values) / scale
    return float(np.mean(scaled)) * scale, float(np.std(scaled, ddof=1)) * scale


def median_interval(values: Sequence[float], alpha: float) -> Interval | None:
    """Return two values with the median between them with probability 1 - ``alpha`` or more, for any shape.

    Both are the same number of places from their end (David and Nagaraja 2003). None where even the extremes are not
    far enough apart, which at 5 % is so below six values.
    """
    place = _median_place(len(values), alpha)
    if place is None:
        return None
    ordered = sorted(values)
    return Interval(ordered[place], ordered[-1 - place])


@lru_cache(maxsize=1024)
def _median_place(n: int, alpha: float) -> int | None:
    """Return the lower end: the largest j with P(fewer than j + 1 of n values below the median) <= alpha / 2."""
    place = None
    for j in range(n // 2):
        if float(special.bdtr(j, n, 0.5)) > alpha / 2:
            break
        place = j
    return place
