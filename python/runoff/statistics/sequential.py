"""One rule for looking as often as one likes: intervals that hold after every block at once.

An arm's differences to the baseline, one a block and logarithms where there are ratios, are held against each possible
mean by a Bayes factor with the right Haar prior of the unknown spread, 1/SD, and a normal prior of the mean in units of
it. That factor depends on the values through Student's t alone. Where they are normal it is a martingale whatever their
spread, so that it ever reaches 1/alpha with a chance of alpha at most (Ville 1939), and the means at which it does not
are a confidence sequence: the intervals hold after any block at which somebody stops, for any reason. See Lai
1976 (Annals of Statistics 4), Hendriksen, de Heide and Grünwald 2021 (Bayesian Analysis 16), Pérez-Ortiz, Lardy, de
Heide and Grünwald 2024 (Annals of Statistics 52), Wang and Ramdas 2025 (Sequential Analysis 44). That other values keep
the error too is not theory but measured, by bench/any_looking.py.
"""

import math
from functools import lru_cache

EFFECT_VARIANCE = 1.0
"""Prior variance of mean / SD: 1 stops soonest where the mean is one to two SDs, and costs some blocks in a hundred
where it is a third."""


@lru_cache(maxsize=16384)
def critical(n: float, alpha: float) -> float:
    """Return the largest |t| of ``n`` values that is not rejected; infinite where none would be."""
    if n < 2:
        return math.inf
    spread = 1 + n * EFFECT_VARIANCE
    growth = (math.log(spread) / 2 - math.log(alpha)) * 2 / n
    if growth >= math.log(spread):
        return math.inf
    c = math.exp(growth)
    return math.sqrt((n - 1) * (c - 1) / (1 - c / spread))


def evidence(n: float, t: float) -> float:
    """Return the log Bayes factor against a mean of zero, at Student's ``t`` of ``n`` values."""
    if n < 2:
        return 0.0
    spread = 1 + n * EFFECT_VARIANCE
    square = t * t / (n - 1)
    return n / 2 * (math.log1p(square) - math.log1p(square / spread)) - math.log(spread) / 2


def two_sided_p(t: float, n: float) -> float:
    """Return the smallest level at which a look at this ``t`` rejects, valid over all looks together."""
    return math.exp(-max(0.0, evidence(n, t)))


def sign_flip(n: int) -> float:
    """Return p for ``n`` equal differences by their signs, over all looks; their size says nothing.

    Signs are thrown by a coin that may be any, against a fair one: the Bayes factor of n heads is 2^n / (n + 1).
    """
    return min(1.0, (n + 1) / 2.0**n)
