"""The size of a difference in a unit that all metrics share."""

import math

from runoff.statistics.blocks import Differences


def standardise(found: Differences) -> float | None:
    """Return the difference in standard deviations of one run within a block.

    Root 2 times mean / SD of the block differences, because a difference has the noise of two runs, times Hedges'
    (1981) correction 1 - 3 / (4 (n - 1) - 1). Infinite where differences do not vary; None where there is none, and
    below three blocks, where it has no expectation.
    """
    if found.mean == 0 or found.sd is None:
        return None
    if found.sd == 0:
        return math.copysign(math.inf, found.mean)
    if found.n < 3:
        return None
    correction = 1 - 3 / (4 * (found.n - 1) - 1)
    return correction * math.sqrt(2) * found.mean / found.sd
