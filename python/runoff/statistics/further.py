"""How many blocks decide a campaign that goes on: the blocks that it has are kept, and count.

By the rule that `runoff resume` uses: the intervals of one more look, after all these blocks. Block differences
are taken as normal, those to come with the SD that is expected from what was seen; chances average over what their
estimated SD will be.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from runoff.results import FIRST_LOOK, StoppingRule
from runoff.statistics import sequential
from runoff.statistics.level import adjust
from runoff.statistics.power import expected_sd, find_first, least_blocks, list_spreads, sd_interval
from runoff.statistics.stopping import find_multiple, spend
from runoff.statistics.values import Advice, Question

RESUMED: StoppingRule = "extended"
"""What a campaign of a planned number of blocks is once it goes on."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The differences that a campaign has."""

    n: int
    """Blocks, at least two."""
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class _Later:
    """What they will be after more blocks."""

    centre: float
    """Expected mean."""
    error: float
    """SD of the mean, as far as it is open."""
    half: npt.NDArray[np.float64]
    """Half of the interval, by equally likely SDs of the blocks to come."""


def chance_of_difference(seen: Seen, blocks: int, true: float, sd: float, comparisons: int, alpha: float) -> float:
    """Return the chance that ``blocks`` blocks in all have an interval on the side of the ``true`` difference.

    Those to come have this ``sd``.
    """
    later = _look_ahead(seen, blocks, true, sd, find_multiple(blocks, alpha, comparisons, RESUMED))
    return float(np.mean(special.ndtr((math.copysign(1, true) * later.centre - later.half) / later.error)))


def chance_of_same(
    seen: Seen, blocks: int, true: float, sd: float, margin: float, comparisons: int, alpha: float
) -> float:
    """Return the chance that the interval of ``blocks`` blocks in all is within ``margin``."""
    later = _look_ahead(seen, blocks, true, sd, find_multiple(blocks, alpha, comparisons, RESUMED))
    high = special.ndtr((margin - later.centre - later.half) / later.error)
    low = special.ndtr((-margin - later.centre + later.half) / later.error)
    return float(np.mean(np.maximum(0.0, high - low)))


def _look_ahead(seen: Seen, blocks: int, true: float, sd: float, multiple: float) -> _Later:
    more = blocks - seen.n
    share = more / blocks
    squares = (seen.n - 1) * seen.sd**2
    # Between the mean that was seen and that of the blocks to come.
    squares += seen.n * share * ((seen.mean - true) ** 2 + sd**2 / more)
    within = (more - 1) * (sd * list_spreads(more)) ** 2 if more > 1 else np.zeros(1)
    spread = np.sqrt((squares + within) / (blocks - 1))
    half = multiple * spread / math.sqrt(blocks) if math.isfinite(multiple) else np.full_like(spread, math.inf)
    return _Later(seen.mean + share * (true - seen.mean), share * sd / math.sqrt(more), half)


def advise(n: int, mean: float, sd: float, margin: float | None, comparisons: int, question: Question) -> Advice | None:
    """Return how many blocks in all decide, of which ``n`` have differences of this ``mean`` and ``sd``, others none.

    ``margin`` is in the same unit, None where only identical values are the same. None if no number decides.
    """
    found = _advise(Seen(n, mean, sd), margin, comparisons, question)
    void = (question.taken or n) - n
    return found and replace(found, blocks=found.blocks + void, low=found.low + void, high=found.high + void)


def _advise(seen: Seen, margin: float | None, comparisons: int, question: Question) -> Advice | None:
    n, mean, sd = seen.n, seen.mean, seen.sd
    joint = comparisons * question.tables
    inside = margin is not None and abs(mean) < margin
    if sd == 0:
        return _advise_equal(n, joint, question, same=mean == 0 or inside)
    if not inside and mean == 0:
        return None
    least = max(n + 1, FIRST_LOOK)
    if inside:
        least = max(least, least_blocks(question.rare))

    def find(each: float) -> int:
        def chance(blocks: int) -> float:
            if inside:
                return chance_of_same(seen, blocks, 0.0, each, margin or 0.0, comparisons, question.alpha)
            return chance_of_difference(seen, blocks, mean, each, joint, question.alpha)

        return find_first(least, chance)

    bounds = sd_interval(sd, n - 1)
    blocks = find(sd * expected_sd(n))
    return Advice("same" if inside else "difference", not inside, blocks, find(bounds.low), find(bounds.high))


def _advise_equal(n: int, joint: int, question: Question, *, same: bool) -> Advice:
    """Return the same for differences that do not vary: signs decide, or what may go unseen."""
    if same:
        blocks = max(n + 1, FIRST_LOOK, least_blocks(question.rare))
        return Advice("same", False, blocks, blocks, blocks)

    def is_told(k: int) -> bool:
        return spend(adjust(sequential.sign_flip(k), joint), RESUMED) <= question.alpha

    blocks = next(k for k in range(max(n + 1, FIRST_LOOK), 128) if is_told(k))
    return Advice("difference", True, blocks, blocks, blocks)
