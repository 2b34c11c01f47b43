"""What the signs of differences alone support, whatever their distribution.

Within a block chance decided who came when, so that without a difference each sign is as likely as the other. Then the
true difference is as likely to be between any two neighbours of the ordered means of all subsets of the differences
(Hartigan 1969), which gives intervals, and the test that flips signs.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from runoff.statistics.values import Interval

FEWEST, MOST = 8, 14
"""Blocks: fewer have too few subsets for an interval near a level of 5 %, with more Student's t needs no help."""

LENIENCY = 1.2
"""Times the level that is asked of t. Signs at that level itself would cost t 1.6 points of power for normal noise with
ten blocks, at this one 0.1, and still t is right for differences in a few clusters (bench/verdict_errors.py)."""


FEWEST_PLACES = 4
"""Means of subsets beyond the interval on each side, so that its ends are about those of t."""


def is_fine(n: int, level: float) -> bool:
    """Return whether the signs of ``n`` differences are fine enough to be about as strict as t at this ``level``."""
    return int(LENIENCY * level * 2**n / 2 + 1e-9) >= FEWEST_PLACES


@lru_cache(maxsize=8)
def _subsets(n: int) -> npt.NDArray[np.float64]:
    """Return all but the empty one, as weights that make means."""
    members = ((np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1).astype(float)
    weights: npt.NDArray[np.float64] = members / members.sum(axis=1, keepdims=True)
    return weights


def interval(values: npt.NDArray[np.float64], level: float) -> Interval:
    """Return the interval of the centre of ``values`` (8 to 14), wrong with probability ``level`` at most."""
    means = _subsets(len(values)) @ values
    out = int(level * 2 ** len(values) / 2 + 1e-9)
    means.partition((out - 1, len(means) - out))
    return Interval(float(means[out - 1]), float(means[len(means) - out]))


def p(values: npt.NDArray[np.float64]) -> float:
    """Return P that random signs give a mean as far from 0 (two-sided)."""
    means = _subsets(len(values)) @ values
    beyond = int(np.sum(means <= 0) if np.mean(values) > 0 else np.sum(means >= 0))
    return min(1.0, 2 * (1 + beyond) / (1 << len(values)))
