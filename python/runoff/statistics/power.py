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

from runoff.statistics.level import adjust, critical, sign_flip
from runoff.statistics.values import DECIDED, LEAST_BLOCKS, MOST_BLOCKS, Advice, Question

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
def _spreads(n: int) -> npt.NDArray[np.float64]:
    """Return estimated SD over true SD: the middles of ``NODES`` equally likely parts of its distribution."""
    shares = (np.arange(NODES) + 0.5) / NODES
    return np.sqrt(special.gammaincinv((n - 1) / 2, shares) * 2 / (n - 1))


def chance_of_difference(n: int, size: float, comparisons: int, alpha: float) -> float:
    """Return the chance of the right ``+`` or ``-`` for a true difference of ``size`` SDs of block differences."""
    return float(np.mean(special.ndtr(math.sqrt(n) * abs(size) - critical(alpha, comparisons, n - 1) * _spreads(n))))


def chance_of_same(n: int, size: float, margin: float, comparisons: int, alpha: float) -> float:
    """Return the chance of an interval within ``margin`` for a true ``size``, both in SDs of block differences."""
    half = critical(alpha, comparisons, n - 1) * _spreads(n)
    root = math.sqrt(n)
    high, low = special.ndtr(root * (margin - size) - half), special.ndtr(root * (-margin - size) + half)
    return float(np.mean(np.maximum(0.0, high - low)))


def detectable_difference(df: float, comparisons: int, alpha: float) -> float:
    """Return the difference, in standard errors, that shows with a chance of 80 % (noncentral t)."""
    return float(special.nctdtrinc(df, 1 - DECIDED, critical(alpha, comparisons, df)))


def advise(n: int, mean: float, sd: float, margin: float | None, comparisons: int, question: Question) -> Advice | None:
    """Return how many blocks decide, from ``n`` of them whose differences have this ``mean`` and ``sd``.

    ``margin`` is in the same unit, None where only identical values are the same. None if no number decides.
    """
    least, joint = least_blocks(question.rare), comparisons * question.tables
    inside = margin is not None and abs(mean) < margin
    if sd == 0:
        if mean == 0 or inside:
            return Advice("same", False, least, least, least)
        blocks = next(k for k in range(2, 64) if adjust(sign_flip(k), joint) <= question.alpha)
        return Advice("difference", True, blocks, blocks, blocks)
    if not inside:
        if mean == 0:
            return None
        return _advice(
            "difference", True, n, sd, 2,
            lambda k, s: chance_of_difference(k, mean / s, joint, question.alpha),
        )  # fmt: skip
    edge = margin or 0.0
    alike = _advice(
        "same", False, n, sd, least,
        lambda k, s: chance_of_same(k, 0.0, edge / s, comparisons, question.alpha),
    )  # fmt: skip
    if alike.blocks > n:
        return alike
    return _advice(
        "same", True, n, sd, least,
        lambda k, s: chance_of_same(k, abs(mean) / s, edge / s, comparisons, question.alpha),
    )  # fmt: skip


def _advice(
    towards: str, as_seen: bool, n: int, sd: float, least: int, chance: Callable[[int, float], float]
) -> Advice:
    tail = (1 - SD_INTERVAL) / 2
    low, high = (sd * math.sqrt((n - 1) / float(special.chdtri(n - 1, p))) for p in (tail, 1 - tail))
    blocks, fewest, most = (_find_first(least, lambda k, s=s: chance(k, s)) for s in (sd, low, high))  # type: ignore[misc]
    return Advice("same" if towards == "same" else "difference", as_seen, blocks, fewest, most)


def _find_first(least: int, chance: Callable[[int], float]) -> int:
    """Return the smallest number from ``least`` on with a chance of 80 %; ``MOST_BLOCKS`` + 1 if there is none."""
    low, high = least - 1, least
    while chance(high) < DECIDED:
        if high > MOST_BLOCKS:
            return MOST_BLOCKS + 1
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= DECIDED else (middle, high)
    return high
