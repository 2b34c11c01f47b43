"""What a number of blocks can tell: chances of a verdict, the smallest change that shows, blocks that decide.

Block differences are taken as normal with a known SD; chances average over what the estimated SD will be (chi), so
they are those of the t tests that judge.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

from runoff.statistics.level import critical
from runoff.statistics.values import DECIDED, LEAST_BLOCKS, MOST_BLOCKS, Interval

NODES = 64
SD_INTERVAL = 0.9
UNSEEN = 0.1
"""Chance that an event of the rarest kind that is told was not seen."""


def unseen_share(n: int) -> float:
    """Return the share of runs that an event may hit and still be in none of ``n`` with 10 % chance."""
    return float(1 - UNSEEN ** (1 / n))


def least_blocks(rare: float) -> int:
    """Return the blocks needed to call arms the same: an event in a share ``rare`` of the runs would show up."""
    return max(LEAST_BLOCKS, math.ceil(math.log(UNSEEN) / math.log1p(-rare) - 1e-9))


@lru_cache(maxsize=4096)
def list_spreads(n: int) -> npt.NDArray[np.float64]:
    """Return estimated SD over true SD: the middles of ``NODES`` equally likely parts of its distribution."""
    shares = (np.arange(NODES) + 0.5) / NODES
    return np.sqrt(special.gammaincinv((n - 1) / 2, shares) * 2 / (n - 1))


def chance_of_difference(n: int, size: float, comparisons: int, alpha: float) -> float:
    """Return the chance of the right ``+`` or ``-`` for a true difference of ``size`` SDs of block differences."""
    return float(
        np.mean(special.ndtr(math.sqrt(n) * abs(size) - critical(alpha, comparisons, n - 1) * list_spreads(n)))
    )


def chance_of_same(n: int, size: float, margin: float, comparisons: int, alpha: float) -> float:
    """Return the chance of an interval within ``margin`` for a true ``size``, both in SDs of block differences."""
    half = critical(alpha, comparisons, n - 1) * list_spreads(n)
    root = math.sqrt(n)
    high, low = special.ndtr(root * (margin - size) - half), special.ndtr(root * (-margin - size) + half)
    return float(np.mean(np.maximum(0.0, high - low)))


def detectable_difference(df: float, multiple: float) -> float:
    """Return the difference, in standard errors, that is beyond a ``multiple`` of them with a chance of 80 %.

    By the noncentral t.
    """
    return float(special.nctdtrinc(df, 1 - DECIDED, multiple))


def sd_interval(sd: float, df: int, level: float = SD_INTERVAL) -> Interval:
    """Return the interval of an SD that was estimated with ``df`` degrees of freedom."""
    tail = (1 - level) / 2
    low, high = (sd * (df / float(special.chdtri(df, p))) ** 0.5 for p in (tail, 1 - tail))
    return Interval(low, high)


def expected_sd(n: int) -> float:
    """Return the true SD that is expected where ``n`` values have an estimate of 1 (a prior of 1/SD); of two as of
    three, which leave it finite."""
    df = max(n, 3) - 1
    return math.sqrt(df / 2) * math.exp(math.lgamma((df - 1) / 2) - math.lgamma(df / 2))


def find_first(least: int, chance: Callable[[int], float], wanted: float = DECIDED) -> int:
    """Return the smallest number from ``least`` on with that chance; more than ``MOST_BLOCKS`` if there is none."""
    low, high = least - 1, least
    while chance(high) < wanted:
        if high > MOST_BLOCKS:
            return MOST_BLOCKS + 1
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= wanted else (middle, high)
    return high
