"""The relative difference to the baseline, by Fieller's theorem (Fieller 1954)."""

import math

from runoff.statistics.fit import Fit
from runoff.statistics.values import Interval


def percent(fit: Fit, baseline: str, arm: str) -> float:
    """``100 * (arm - baseline) / baseline``."""
    return 100 * (fit.means[arm] - fit.means[baseline]) / fit.means[baseline]


def percent_interval(fit: Fit, baseline: str, arm: str, critical: float) -> Interval | None:
    """All ratios that a test with this critical value would not reject, as percent changes.

    The ratio r is kept while ``|arm - r * baseline| <= critical * se``, where se belongs to that very
    contrast. With Tukey's critical value the interval excludes 0 % exactly when Tukey-Kramer separates
    the pair. None if the baseline's mean is not itself clear of zero, where no bounded interval exists.
    """
    scale = fit.means[baseline]
    ratio = fit.means[arm] / scale
    noise = (critical * fit.sd / scale) ** 2
    g, h = noise / fit.counts[baseline], noise / fit.counts[arm]
    if g >= 1:
        return None
    root = math.sqrt(g * ratio**2 + h - g * h)
    return Interval(100 * ((ratio - root) / (1 - g) - 1), 100 * ((ratio + root) / (1 - g) - 1))
