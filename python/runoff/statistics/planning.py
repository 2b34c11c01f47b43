"""How many blocks a question needs, of one comparison among several.

``effect``, ``sd`` (above 0) and ``margin`` are in one unit: logarithms of ratios where there are ratios. Of a
difference it is asked in all headline tables together, as the report judges it (``joint`` comparisons), of "same" in
its own table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from runoff.statistics.level import adjust, sign_flip
from runoff.statistics.power import chance_of_difference, chance_of_same, find_first, least_blocks, sd_interval
from runoff.statistics.values import DEFAULT_ALPHA, DEFAULT_RARE, MOST_BLOCKS, Advice, Question


@dataclass(frozen=True, slots=True)
class Blocks:
    """A number of blocks, and its 90 % interval, because the SD is an estimate; None is more than anybody takes."""

    needed: int | None
    low: int | None
    high: int | None


def blocks_to_detect(
    effect: float, sd: float, df: int, chance: float, *, joint: int = 1, alpha: float = DEFAULT_ALPHA
) -> Blocks:
    """Return blocks after which a true difference of ``effect`` is ``+`` or ``-`` with this chance."""
    if effect == 0:
        return Blocks(None, None, None)
    return _count_over_sd(sd, df, lambda n, each: chance_of_difference(n, effect / each, joint, alpha), chance, 2)


def blocks_for_same(
    margin: float,
    sd: float,
    df: int,
    chance: float,
    *,
    comparisons: int = 1,
    alpha: float = DEFAULT_ALPHA,
    rare: float = DEFAULT_RARE,
) -> Blocks:
    """Return blocks after which equal arms are ``=`` with this chance."""
    if margin == 0:
        return Blocks(None, None, None)
    least = least_blocks(rare)
    return _count_over_sd(
        sd, df, lambda n, each: chance_of_same(n, 0.0, margin / each, comparisons, alpha), chance, least
    )


def _count_over_sd(sd: float, df: int, chance: Callable[[int, float], float], wanted: float, least: int) -> Blocks:
    bounds = sd_interval(sd, df)
    return Blocks(*(_find_fewest(chance, each, wanted, least) for each in (sd, bounds.low, bounds.high)))


def _find_fewest(chance: Callable[[int, float], float], sd: float, wanted: float, least: int) -> int | None:
    """Return the smallest number of blocks, ``least`` or more, with that chance; None above MOST_BLOCKS."""
    found = find_first(least, lambda n: chance(n, sd), wanted)
    return found if found <= MOST_BLOCKS else None


def advise(n: int, mean: float, sd: float, margin: float | None, comparisons: int, question: Question) -> Advice | None:
    """Return how many blocks of a new campaign decide, where ``n`` blocks have had differences of ``mean`` and ``sd``.

    ``margin`` is in the same unit, None where only identical values are the same. None if no number decides.
    """
    least, joint = least_blocks(question.rare), comparisons * question.tables
    inside = margin is not None and abs(mean) < margin
    if sd == 0:
        if mean == 0 or inside:
            return Advice("same", False, least, least, least)
        blocks = next(k for k in range(2, 64) if adjust(sign_flip(k), joint) <= question.alpha)
        return Advice("difference", True, blocks, blocks, blocks)
    bounds = sd_interval(sd, n - 1)

    def find(least: int, chance: Callable[[float, int], float]) -> list[int]:
        every = (partial(chance, each) for each in (sd, bounds.low, bounds.high))
        return [find_first(least, each) for each in every]

    if not inside:
        if mean == 0:
            return None
        found = find(2, lambda each, k: chance_of_difference(k, mean / each, joint, question.alpha))
        return Advice("difference", True, *found)
    edge = margin or 0.0
    alike = find(least, lambda each, k: chance_of_same(k, 0.0, edge / each, comparisons, question.alpha))
    if alike[0] > n:
        return Advice("same", False, *alike)
    seen = find(least, lambda each, k: chance_of_same(k, abs(mean) / each, edge / each, comparisons, question.alpha))
    return Advice("same", True, *seen)
