"""Runs that are dealt to two arms anew: how far apart Student's t of equal distributions comes.

Exact for equal distributions, whatever their shape and however unequal the numbers of runs, and near its level where
only the means are equal, as the statistic is studentised (Janssen 1997; Chung and Romano 2013, Annals of Statistics
41). Welch's t is wrong for both where a few runs of one arm stand against many of the other.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

MOST_EQUAL = 1.5
"""Numbers of runs that differ by less than this factor are equal enough for Welch's t."""
MANY = 30
"""Runs of the smaller arm from which on Welch's t needs no help."""
DEALS = 9_999
ROUNDING = 1e-9
"""Sizes this near to each other are one: ties count for the deal that happened."""
MOST_SORTED = 1000
"""Values up to which all deals are drawn at once."""

_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Dealt:
    """Sizes of t over all ways to deal the values, or over many, the largest first."""

    sizes: _Numbers

    def find_p(self, t: float) -> float:
        """Return the share of deals with a t as far from zero."""
        return float(np.mean(self.sizes >= abs(t) * (1 - ROUNDING)))

    def find_critical(self, level: float) -> float:
        """Return the size beyond which p is ``level`` at most; infinite where none is."""
        allowed = int(level * len(self.sizes) + 1e-9)
        return float(self.sizes[allowed]) * (1 + ROUNDING) if allowed else math.inf


def needs_deals(first: int, second: int) -> bool:
    """Return whether the numbers of runs of two arms are too unequal for Welch's t."""
    few, many = sorted((first, second))
    return few < MANY and many >= MOST_EQUAL * few


def deal(first: _Numbers, second: _Numbers) -> Dealt:
    """Return Welch's t of all deals of the values to arms of these sizes; of many, drawn the same each time."""
    values = np.concatenate([first, second])
    values = values - values.mean()
    few = min(len(first), len(second))
    places, whole = _choose(len(values), few)
    sizes = _find_sizes(values, values[places])
    # A drawn set lacks the deal that happened.
    return Dealt(np.sort(sizes if whole else np.append(sizes, math.inf))[::-1])


def _choose(count: int, few: int) -> tuple[npt.NDArray[np.int_], bool]:
    """Return the places of the smaller arm, deals x ``few``, and whether these are all there are."""
    if math.comb(count, few) <= DEALS:
        return np.array(list(combinations(range(count), few))), True
    draw = np.random.default_rng(1)
    if count <= MOST_SORTED:
        return np.argpartition(draw.random((DEALS, count)), few - 1, axis=1)[:, :few], False
    return np.array([draw.choice(count, few, replace=False, shuffle=False) for _ in range(DEALS)]), False


def _find_sizes(values: _Numbers, chosen: _Numbers) -> _Numbers:
    few, many = chosen.shape[1], len(values) - chosen.shape[1]
    total, squares = chosen.sum(axis=1), (chosen**2).sum(axis=1)
    mean, other = total / few, (values.sum() - total) / many
    within = np.maximum(squares - few * mean**2, 0.0) / (few - 1) / few
    within += np.maximum((values**2).sum() - squares - many * other**2, 0.0) / (many - 1) / many
    error = np.sqrt(within)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == other, 0.0, np.abs(mean - other) / error)
