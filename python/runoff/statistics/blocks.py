"""An arm less the baseline, block by block: the only numbers that verdicts rest on.

What a block does to all its samples alike cancels in a difference within it. Where all values of both arms are
positive, differences are log ratios: noise of a time grows with the time, and a ratio of two arms is their ratio in
every block, fast or slow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runoff.statistics.describe import ROUNDING, moments
from runoff.statistics.digits import find_step
from runoff.statistics.trend import mann_kendall
from runoff.statistics.values import Observation

FARTHEST = 1e9
"""No percent for an arm this many times the baseline: they do not measure the same thing."""

CORRELATION_MINIMUM = 10
"""Blocks below which a correlation of neighbours is noise."""

CORRELATION_Z = 2.326
"""One-sided 1 %: independent blocks are seldom taken for dependent ones."""

STRONGEST = 0.9
"""Largest correlation that intervals are widened for, so that some information is left."""

TREND_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences of one arm to the baseline, at least one, in the order of blocks."""

    values: tuple[float, ...]
    logs: bool
    mean: float
    sd: float | None
    """0 where the differences are equal up to rounding; None for a single one."""
    mean_in_units: float
    ratio_of_means: float | None
    """Ratio of the arithmetic means, for logs only."""
    ratio_sd: float | None
    """SD of ``(arm - ratio_of_means * baseline) / mean of the baseline``; for logs only."""
    correlation: float | None
    confounded: bool
    step: float | None
    """How far the digits of the values leave the mean open: two values that are printed alike may be a whole step of
    them apart; 0 where all are distinct, None where all are one number (`runoff.statistics.digits`)."""

    @property
    def n(self) -> int:
        """Number of blocks."""
        return len(self.values)

    @property
    def is_dependent(self) -> bool:
        """Whether neighbours are alike for certain."""
        r = self.correlation
        return r is not None and self.n >= CORRELATION_MINIMUM and r >= CORRELATION_Z / math.sqrt(self.n)

    @property
    def informative(self) -> float:
        """How many independent blocks are worth as much as these: fewer where neighbours are alike."""
        if not self.is_dependent:
            return float(self.n)
        r = min(self.correlation or 0.0, STRONGEST)
        return max(2.0, self.n * (1 - r) / (1 + r))


def differences(baseline: Sequence[Observation], arm: Sequence[Observation]) -> Differences | None:
    """Return the differences over the blocks that both arms have; None without one."""
    theirs = {o.block: o for o in baseline}
    couples = sorted(((theirs[o.block], o) for o in arm if o.block in theirs), key=lambda couple: couple[0].block)
    if not couples:
        return None
    base, other = (np.array([couple[i].value for couple in couples]) for i in (0, 1))
    logs = ratios_make_sense([o.value for o in baseline], [o.value for o in arm])
    with np.errstate(over="ignore"):
        plain = other - base
    values = np.log(other) - np.log(base) if logs else plain
    mean, sd = find_moments(values, 1.0 if logs else float(max(np.abs(base).max(), np.abs(other).max())))
    ratio, ratio_sd = _ratio(base, other) if logs else (None, None)
    return Differences(
        values=tuple(map(float, values)),
        logs=logs,
        mean=mean,
        sd=sd,
        mean_in_units=find_moments(plain, float(max(np.abs(base).max(), np.abs(other).max())))[0],
        ratio_of_means=ratio,
        ratio_sd=ratio_sd,
        correlation=_correlation(values, mean, sd),
        confounded=_is_confounded(couples, base, other, logs),
        step=find_step(np.concatenate([base, other]), logs=logs),
    )


def ratios_make_sense(baseline: Sequence[float], arm: Sequence[float]) -> bool:
    """Return whether percent is meaningful: every value of both arms is positive."""
    low, high = min(*baseline, *arm), max(*baseline, *arm)
    return low > 0 and high / FARTHEST < low


def find_moments(values: npt.NDArray[np.float64], scale: float) -> tuple[float, float | None]:
    """Return mean and SD; differences that agree to rounding, for values up to ``scale``, are equal."""
    if float(np.ptp(values)) <= ROUNDING * scale:
        mean = float(values[0])
        return (mean if abs(mean) > ROUNDING * scale else 0.0), (0.0 if len(values) > 1 else None)
    return moments([float(value) for value in values])


def _ratio(base: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> tuple[float, float | None]:
    scale = float(np.mean(base / base.max())) * float(base.max())
    base, other = base / scale, other / scale
    ratio = float(np.mean(other))
    return ratio, float(np.std(other - ratio * base, ddof=1)) if len(base) > 1 else None


def _correlation(values: npt.NDArray[np.float64], mean: float, sd: float | None) -> float | None:
    if not sd or len(values) < 3:
        return None
    centred = (values - mean) / sd
    return float(np.sum(centred[1:] * centred[:-1]) / np.sum(centred**2))


def _is_confounded(
    couples: Sequence[tuple[Observation, Observation]],
    base: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    logs: bool,
) -> bool:
    """Return whether values drift over blocks and the arm was first in all of them, or last in all.

    Then what the drift does within a block has the same sign in all of them, and looks like a difference.
    """
    if len({b.position < o.position for b, o in couples}) > 1 or len(couples) < 3:
        return False
    level = np.log(base) + np.log(other) if logs else base / 2 + other / 2
    tau, p = mann_kendall(level)
    return abs(tau) == 1 or p < TREND_ALPHA
