"""Is a change the same on all machines? One-way analysis of variance whose groups may differ in noise and size."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

Groups = Sequence[npt.NDArray[np.float64]]
"""The block differences of each machine, at least two of each."""


def find_p_of_equal_means(groups: Groups) -> float:
    """Return p of the test that the means of all ``groups`` are equal.

    Brown and Forsythe's F* (1974, Technometrics 16) with Mehrotra's degrees of freedom (1997, Communications in
    Statistics 26): unequal noise leaves it near its level, where Welch's test is too bold for few blocks on many
    machines. 1 where no group varies and all means are equal, 0 where they differ.
    """
    n = np.array([len(group) for group in groups], dtype=float)
    means = np.array([group.mean() for group in groups])
    variances = np.array([group.var(ddof=1) for group in groups])
    share = n / n.sum()
    between = float(np.sum(n * (means - float(np.sum(share * means))) ** 2))
    parts = (1 - share) * variances
    within = float(parts.sum())
    if within == 0:
        return 0.0 if between > 0 else 1.0
    df_within = within**2 / float(np.sum(parts**2 / (n - 1)))
    spread = float(np.sum(variances**2) + np.sum(share * variances) ** 2 - 2 * np.sum(share * variances**2))
    return float(special.fdtrc(within**2 / spread, df_within, between / within))


def estimate_sd(groups: Groups) -> float:
    """Return the SD of the true means between groups: what their spread has beyond their noise (Hedges 1983)."""
    means = np.array([group.mean() for group in groups])
    noise = float(np.mean([group.var(ddof=1) / len(group) for group in groups]))
    return float(np.sqrt(max(0.0, float(means.var(ddof=1)) - noise)))
