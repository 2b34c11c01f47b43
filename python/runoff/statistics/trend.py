"""Mann-Kendall: whether numbers rise or fall along their order (Mann 1945, Kendall 1975)."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special


def mann_kendall(values: Sequence[float] | npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return tau a, from -1 (each is below the one before) to 1, and its two-sided p.

    The p is the normal approximation with Kendall's variance for ties and a correction for continuity; `scipy.stats`
    has this test, but importing it takes longer than a report. At least two values.
    """
    order = np.asarray(values, dtype=float)
    n = len(order)
    score = float(np.sum(np.sign(order[None, :] - order[:, None])[np.triu_indices(n, 1)]))
    ties = np.unique(order, return_counts=True)[1].astype(float)
    variance = (n * (n - 1) * (2 * n + 5) - float(np.sum(ties * (ties - 1) * (2 * ties + 5)))) / 18
    p = 1.0
    if variance > 0:
        p = min(1.0, 2 * float(special.ndtr(-max(0.0, abs(score) - 1) / math.sqrt(variance))))
    return score / (n * (n - 1) / 2), p
