"""One arm at a time: moments, quantiles and the interval of the mean."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from runoff.statistics.values import Interval, Summary

ROUNDING = 1e-12
"""A relative spread below this is the rounding of binary fractions, not a measurement."""


def constant(values: Sequence[float]) -> bool:
    """Whether all values are equal up to rounding."""
    return max(values) - min(values) <= ROUNDING * max(abs(min(values)), abs(max(values)))


def summarise(arm: str, values: Sequence[float], alpha: float) -> Summary:
    """Describe one arm's ``values`` (at least one, finite).

    Quantiles follow JMP's rule: rank p(n + 1), linear between neighbours, clamped to the extremes
    (Hyndman and Fan 1996, type 6; numpy's ``weibull``).
    """
    n = len(values)
    q10, q25, median, q75, q90 = (
        float(q) for q in np.quantile(np.asarray(values), [0.1, 0.25, 0.5, 0.75, 0.9], method="weibull")
    )
    mean, sd = moments(values)
    ci = None
    if sd is not None:
        half = float(special.stdtrit(n - 1, 1 - alpha / 2)) * sd / math.sqrt(n)
        ci = Interval(mean - half, mean + half)
    return Summary(arm, n, mean, sd, ci, min(values), q10, q25, median, q75, q90, max(values))


def moments(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and sample SD; values are scaled first, so that squares neither overflow nor vanish."""
    if constant(values):
        return values[0], 0.0 if len(values) > 1 else None
    scale = max(abs(value) for value in values)
    scaled = np.asarray(values) / scale
    return float(np.mean(scaled)) * scale, float(np.std(scaled, ddof=1)) * scale
