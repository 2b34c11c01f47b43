"""Where a series of values changes its level.

The ranks of the values are cut into stretches by least squares (ruptures), and a cut is taken for a change only if few
of the same values in a random order can be cut as well. Any order is as likely as another where nothing changes, so
this holds whatever the values' distribution is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from types import ModuleType

import numpy as np
import numpy.typing as npt
from scipy import stats

from runoff.errors import MissingError
from runoff.installed import describe_adding

SHORTEST = 2
"""Values of a stretch: a single one that is far out is an outlier, not a level."""
LEAST_SHUFFLES = 999
MOST_CUTS = 2
"""Cuts that are looked for at a time: a step, or a stretch that differs from what is before and after it."""
MOST_ROUNDS = 10

_Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of the level."""

    first: int
    """Index of the first value after it."""
    p: float
    """How often values in a random order can be cut as well."""


def find_change_points(values: Sequence[float], alpha: float) -> tuple[ChangePoint, ...]:
    """Return the changes in ``values``, which are in the order of time; ``alpha`` is the chance of a false one.

    Each stretch between two changes is looked at again, at a share of ``alpha``. Same values, same answer. Raises
    MissingError without the library.
    """
    series = np.asarray(values, dtype=float)
    points = sorted(_split(series, 0, alpha), key=lambda point: point.first)
    return tuple(_settle(series, points, alpha))


def count_least_values(alpha: float) -> int:
    """Return how many values are the fewest that can show a change."""
    count = 2 * SHORTEST
    while 2 / math.comb(count, count // 2) > alpha:
        count += 1
    return count


def _split(values: _Values, start: int, alpha: float) -> Iterator[ChangePoint]:
    """Yield the changes of a stretch, and of the stretches between these."""
    if len(values) < count_least_values(alpha) or np.ptp(values) == 0:
        return
    p, cuts = _test(values, alpha, MOST_CUTS)
    if p > alpha:
        return
    yield from (ChangePoint(start + cut, p) for cut in cuts)
    for begin, end in pairwise([0, *cuts, len(values)]):
        yield from _split(values[begin:end], start + begin, alpha / (len(cuts) + 1))


def _settle(values: _Values, points: list[ChangePoint], alpha: float) -> list[ChangePoint]:
    """Return the changes, each in its best place between its neighbours, without those that are none there.

    The first cut through a staircase is in the middle of a stair.
    """
    while points:
        points = _move(values, points)
        windows = [values[begin:end] for begin, end in _list_windows(values, points)]
        worst = max(range(len(points)), key=lambda index: _doubt(windows[index], alpha))
        if _doubt(windows[worst], alpha) <= alpha:
            break
        del points[worst]
    return points


def _move(values: _Values, points: list[ChangePoint]) -> list[ChangePoint]:
    points = list(points)
    for _ in range(MOST_ROUNDS):
        before = list(points)
        for index in range(len(points)):
            begin, end = list(_list_windows(values, points))[index]
            points[index] = replace(points[index], first=begin + _find_step(values[begin:end]))
        if points == before:
            break
    return points


def _list_windows(values: _Values, points: list[ChangePoint]) -> Iterator[tuple[int, int]]:
    """Yield from where to where the two levels beside each change reach."""
    edges = [0, *(point.first for point in points), len(values)]
    return zip(edges, edges[2:], strict=False)


def _doubt(window: _Values, alpha: float) -> float:
    """Return how well values in a random order can be cut once; 0 where they are too few to tell."""
    return _test(window, alpha, 1)[0] if len(window) >= count_least_values(alpha) else 0.0


def _test(values: _Values, alpha: float, most: int) -> tuple[float, list[int]]:
    """Return how often values in a random order can be cut as well as these by up to ``most`` cuts, and the cuts.

    For each number of cuts the orders are ranked by what these explain, the order as it is among them; an order counts
    by its best rank.
    """
    shuffles = max(LEAST_SHUFFLES, math.ceil(20 / alpha) - 1)
    ranks, draw = _rank(values), np.random.default_rng(1)
    orders = [ranks, *(draw.permutation(ranks) for _ in range(shuffles))]
    worth = np.array([[_explain(order, cuts) for cuts in _list_cuts(order, most)] for order in orders])
    as_well = np.column_stack([_count_as_well(column) for column in worth.T]).min(axis=1)
    p = float(np.mean(as_well <= as_well[0]))
    return p, max(_list_cuts(ranks, most), key=lambda cuts: _explain(ranks, cuts) / len(cuts))


def _count_as_well(worth: _Values) -> npt.NDArray[np.int_]:
    """Return of each order how many are worth as much or more."""
    ordered = np.sort(worth * (1 + 1e-9))
    counts: npt.NDArray[np.int_] = len(worth) - np.searchsorted(ordered, worth)
    return counts


def _rank(values: _Values) -> _Values:
    ranks: _Values = stats.rankdata(values) - (len(values) + 1) / 2
    return ranks


def _list_cuts(ranks: _Values, most: int) -> list[list[int]]:
    """Return where one cut explains most, then two, up to ``most``."""
    search = _load_ruptures().KernelCPD(kernel="linear", min_size=SHORTEST).fit(ranks)
    return [search.predict(n_bkps=count)[:-1] for count in range(1, most + 1)]


def _find_step(values: _Values) -> int:
    """Return the cut beside which values are nearest to the median of their side: single ones far out do not matter."""
    cut, _ = _load_ruptures().Binseg(model="l1", min_size=SHORTEST, jump=1).fit(values).predict(n_bkps=1)
    return int(cut)


def _explain(ranks: _Values, cuts: list[int]) -> float:
    """Return the squares of centred ranks that are between stretches."""
    sums = np.add.reduceat(ranks, [0, *cuts])
    return float(sums**2 @ (1 / np.diff([0, *cuts, len(ranks)])))


@cache
def _load_ruptures() -> ModuleType:
    try:
        import ruptures
    except ImportError:
        raise MissingError(f"runoff history needs ruptures: {describe_adding('history')}") from None
    module: ModuleType = ruptures
    return module
