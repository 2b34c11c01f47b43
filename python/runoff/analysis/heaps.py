"""Values that fall into two heaps with nothing between them, which no mean describes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LEAST_VALUES = 10
"""Values of fewer runs have wide gaps by chance: of seven equally likely ones 13 % of arms would have two heaps."""
LEAST_IN_HEAP = 3
LEAST_SHARE = 0.2
"""Share of the values that the smaller heap has."""
GAP = 1.25
"""Times the width of the wider heap that the gap between the two has at least. Of ten values of one normal
distribution 1 % of arms have such a gap, of ten equally likely ones 4 %, of twenty of either none."""
STEPS = 5
"""Steps between the heaps at least, as the values themselves lie on a grid where they have few digits."""


@dataclass(frozen=True, slots=True)
class Heaps:
    """Two heaps of an arm's values."""

    low: tuple[float, float]
    """The smallest and largest value of the lower one."""
    high: tuple[float, float]
    """The smallest and largest value of the upper one."""
    share: float
    """Share of the values that the upper one has."""


def find_heaps(values: Sequence[float], margin: float) -> Heaps | None:
    """Return the two heaps that ``values`` fall into, by the logarithms of positive ones; None where they do not.

    Heaps that are less than ``margin`` (a share of the smaller values) apart do not matter.
    """
    ordered = sorted(values)
    if len(ordered) < LEAST_VALUES:
        return None
    is_positive = ordered[0] > 0
    places = [math.log(value) for value in ordered] if is_positive else ordered
    gap, split = max((high - low, place) for place, (low, high) in enumerate(pairwise(places), 1))
    fewer = min(split, len(ordered) - split)
    width = max(places[split - 1] - places[0], places[-1] - places[split])
    if fewer < max(LEAST_IN_HEAP, LEAST_SHARE * len(ordered)) or gap <= GAP * width:
        return None
    if (is_positive and gap <= math.log1p(margin)) or _is_on_grid(ordered, split):
        return None
    return Heaps((ordered[0], ordered[split - 1]), (ordered[split], ordered[-1]), 1 - split / len(ordered))


def _is_on_grid(ordered: Sequence[float], split: int) -> bool:
    """Return whether the gap is a few of the smallest steps between values."""
    smallest = min(high - low for low, high in pairwise(ordered) if high > low)
    return ordered[split] - ordered[split - 1] < STEPS * smallest
