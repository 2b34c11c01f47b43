"""Is a change the same on all machines? One-way analysis of variance whose groups may differ in noise and size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special


@dataclass(frozen=True, slots=True)
class Moments:
    """The changes on one machine, in brief."""

    n: float
    """How many there are, two or more."""
    mean: float
    variance: float
    """Variance of one of them: the mean's is an ``n``th of it."""

    @classmethod
    def from_values(cls, values: npt.NDArray[np.float64]) -> "Moments":
        """Return the moments of two values or more."""
        return cls(float(len(values)), float(values.mean()), float(values.var(ddof=1)))


Groups = Sequence[Moments]
"""The moments of each machine."""


def find_p_of_equal_means(groups: Groups) -> float:
    """Return p of the test that the means of all ``groups`` are equal.

    Brown and Forsythe's F* (1974, Technometrics 16) with Mehrotra's degrees of freedom (1997, Communications in
    Statistics 26): unequal noise leaves it near its level, where Welch's test is too bold for few blocks on many
    machines. 1 where no group varies and all means are equal, 0 where they differ.
    """
    n, means, variances = _as_arrays(groups)
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
    n, means, variances = _as_arrays(groups)
    return float(np.sqrt(max(0.0, float(means.var(ddof=1)) - float(np.mean(variances / n)))))


def _as_arrays(groups: Groups) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return numbers, means and variances."""
    n, means, variances = np.array([(group.n, group.mean, group.variance) for group in groups]).T
    return n, means, variances
