"""What the best of several arms is worth: less than it was measured, as chance helped to make it the best.

All are drawn towards their mean by the share of their variance that their errors explain (empirical Bayes; Morris 1983,
Journal of the American Statistical Association 78).
"""

from collections.abc import Sequence
from math import fsum

FEWEST = 4
"""Arms below which their spread says too little."""


def shrink(changes: Sequence[float], errors: Sequence[float]) -> list[float]:
    """Return the expected changes of several arms, whose own standard errors are ``errors``.

    What all of them share, as the baseline they are compared with, does not count as an error. Fewer than four are
    returned as they are.
    """
    count = len(changes)
    if count < FEWEST:
        return list(changes)
    centre = fsum(changes) / count
    spread = fsum((change - centre) ** 2 for change in changes)
    noise = fsum(error**2 for error in errors) / count
    kept = max(0.0, 1 - (count - 1) * noise / spread) if spread > 0 else 0.0
    return [centre + kept * (change - centre) for change in changes]
