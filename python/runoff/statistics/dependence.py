"""Whether runs in no blocks resemble the run before: then they say less than as many independent ones.

By the correlation of neighbours (lag 1) within both arms together, with its bias of -1/n made up for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runoff.statistics.blocks import STRONGEST
from runoff.statistics.describe import ROUNDING

LEAST_RUNS = 20
"""Runs of two arms together below which a correlation of neighbours is noise."""
CERTAIN_Z = 1.645
"""One-sided 5 %: independent runs seldom have as much, and with 20 of each a correlation of a half is mostly seen."""
CERTAIN_FACTOR = 1.5
"""What a correlation that is certain is raised by: of few runs it is estimated too low, the more so the larger it is
(tests/property/test_unpaired_simulation.py)."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """How much runs resemble the run before."""

    correlation: float | None = None
    """None where there are too few runs to tell."""
    is_certain: bool = False
    """Whether independent runs would seldom have as much."""

    @property
    def runs_per_one(self) -> float:
        """How many runs say as much as one that is independent of the others; 1 at least."""
        factor = CERTAIN_FACTOR if self.is_certain else 1.0
        r = min(max(factor * (self.correlation or 0.0), 0.0), STRONGEST)
        return (1 + r) / (1 - r)


def find_dependence(arms: Sequence[npt.NDArray[np.float64]]) -> Dependence:
    """Return how much the runs of ``arms``, each in run order, resemble the run before."""
    known = [(len(values), each) for values in arms if (each := _correlate(values)) is not None]
    count = sum(n for n, _ in known)
    if count < LEAST_RUNS:
        return Dependence()
    correlation = sum(n * r + 1 for n, r in known) / count
    return Dependence(correlation, correlation * math.sqrt(count) > CERTAIN_Z)


def _correlate(values: npt.NDArray[np.float64]) -> float | None:
    if len(values) < 3 or np.ptp(values) <= ROUNDING * np.abs(values).max():
        return None
    centred = values - values.mean()
    return float(centred[1:] @ centred[:-1]) / float(centred @ centred)
