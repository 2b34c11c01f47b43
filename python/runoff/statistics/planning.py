"""How many blocks a question needs, of one comparison among several.

``effect``, ``sd`` (above 0) and ``margin`` are in one unit: logarithms of ratios where there are ratios. Of a
difference it is asked in all headline tables together, as the report judges it (``joint`` comparisons), of "same" in
its own table.
"""

from collections.abc import Callable
from dataclasses import dataclass

from scipy import special

from runoff.statistics.power import SD_INTERVAL, chance_of_difference, chance_of_same, least_blocks
from runoff.statistics.values import DEFAULT_ALPHA, DEFAULT_RARE, MOST_BLOCKS, Interval


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
    low, high = least - 1, least
    while chance(high, sd) < wanted:
        if high >= MOST_BLOCKS:
            return None
        low, high = high, min(2 * high, MOST_BLOCKS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle, sd) >= wanted else (middle, high)
    return high


def sd_interval(sd: float, df: int, level: float = SD_INTERVAL) -> Interval:
    """Return the interval of an SD that was estimated with ``df`` degrees of freedom."""
    tail = (1 - level) / 2
    low, high = (sd * (df / float(special.chdtri(df, p))) ** 0.5 for p in (tail, 1 - tail))
    return Interval(low, high)
