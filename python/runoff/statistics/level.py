"""The level of one comparison among several (Sidak 1967), and Student's t at it.

Sidak's inequality holds for any correlation of normal estimates, so a critical value depends on the number of arms
and on an arm's own blocks, and on nothing that another arm does. ``scipy.stats`` takes longer to import than most
reports to make, so only ``scipy.special`` is used here.
"""

import math
from functools import lru_cache

from scipy import special


def level_for_each(alpha: float, comparisons: int) -> float:
    """Return the level of each of ``comparisons`` so that any of them errs with probability ``alpha`` at most."""
    return -math.expm1(math.log1p(-alpha) / max(comparisons, 1))


def adjust(p: float, comparisons: int) -> float:
    """Return the smallest ``alpha`` at which ``p`` reaches the level of one among ``comparisons``."""
    return 1.0 if p >= 1 else -math.expm1(max(comparisons, 1) * math.log1p(-p))


def unadjust(p: float, comparisons: int) -> float:
    """Return the inverse of ``adjusted``."""
    return 1.0 if p >= 1 else level_for_each(p, comparisons)


@lru_cache(maxsize=4096)
def critical(alpha: float, comparisons: int, df: float) -> float:
    """Return the multiple of its standard error beyond which one of ``comparisons`` differences is separated."""
    return float(special.stdtrit(df, 1 - level_for_each(alpha, comparisons) / 2))


def two_sided_p(t: float, df: float) -> float:
    """Return P that Student's t is as far from 0 as ``t``."""
    return 2 * float(special.stdtr(df, -abs(t)))


def sign_flip(n: int) -> float:
    """Return P that ``n`` equal differences have one sign if both signs are equally likely (two-sided)."""
    return min(1.0, 2.0 ** (1 - n))
