"""Whether an arm varies more or less from run to run than the baseline, wherever its mean is.

Levene's idea with medians (Brown and Forsythe 1974), within blocks: each value's distance from the median of its arm,
and of these the difference between arm and baseline in each block. If both vary alike, the signs of these differences
are chance.
"""

import math
from collections.abc import Sequence

import numpy as np

from runoff.statistics import signs
from runoff.statistics.level import adjust, two_sided_p
from runoff.statistics.values import Observation, Question, Spread

LEAST_RATIO = 3.0
"""Times as much variation; less is not told, as it changes no choice."""


def compare_spread(
    baseline: Sequence[Observation], arm: Sequence[Observation], question: Question, comparisons: int
) -> Spread | None:
    """Compare how much two arms vary over the blocks that they share, one of ``comparisons`` of a table.

    Values are taken as logarithms where all are positive, so that an arm that takes twice the time may vary by twice
    the time. None where fewer than ``signs.FEWEST`` blocks are shared, blocks are copies of each other, or somebody
    looked in between.
    """
    if question.repeats_exactly or question.is_sequential:
        return None
    before = {each.block: each.value for each in baseline}
    pairs = [(before[each.block], each.value) for each in arm if each.block in before]
    if len(pairs) < signs.FEWEST:
        return None
    values = np.asarray(pairs)
    relative = bool(np.all(values > 0))
    if relative:
        values = np.log(values)
    distances = np.abs(values - np.median(values, axis=0))
    theirs, own = (float(each) for each in distances.mean(axis=0))
    p = adjust(_test(distances[:, 1] - distances[:, 0]), comparisons * question.tables)
    matters = not relative or max(theirs, own) > math.log1p(question.margin)
    ratio = own / theirs if theirs > 0 else None
    differs = ratio is None or max(ratio, 1 / ratio if ratio else math.inf) >= LEAST_RATIO
    return Spread(ratio, p, own > theirs, p <= question.alpha and matters and differs)


def _test(differences: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    n = len(differences)
    sd = float(np.std(differences, ddof=1))
    if sd == 0:
        return 1.0 if differences[0] == 0 else 2.0 ** (1 - n)
    p = two_sided_p(float(np.mean(differences)) / sd * math.sqrt(n), n - 1)
    return max(p, signs.p(differences)) if n <= signs.MOST else p
