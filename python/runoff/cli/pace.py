"""How fast samples come, and when the last will."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

FEWEST = 5
"""Samples before there is an interval."""
WIDTH = 1.645
"""Half of the interval in standard errors: 90 %."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds until the end."""

    seconds: float
    interval: tuple[float, float] | None
    """The range in which the campaign ends with 90 % chance if it goes on as before; None while that is not known."""


class Pace:
    """The times at which samples were finished, however many ran at once."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last_s = now()
        self._gaps_s: list[float] = []

    def start(self) -> None:
        """Begin to count time: the first sample is started."""
        self._last_s = self._now()

    def finish(self) -> None:
        """Count a sample that is finished."""
        now_s = self._now()
        self._gaps_s.append(now_s - self._last_s)
        self._last_s = now_s

    @property
    def each_s(self) -> float | None:
        """Seconds for each sample; None before the first is finished."""
        return statistics.fmean(self._gaps_s) if self._gaps_s else None

    @property
    def per_minute(self) -> float | None:
        """Samples a minute; None before the first is finished, or where that took no time."""
        each_s = self.each_s
        return 60 / each_s if each_s else None

    def estimate(self, left: int) -> Estimate | None:
        """Return when ``left`` more samples are finished, from now on; None before the first is."""
        each_s, n = self.each_s, len(self._gaps_s)
        if each_s is None:
            return None
        # A sample that takes longer than the others still has to end.
        seconds = max(0.0, left * each_s - min(self._now() - self._last_s, each_s))
        if n < FEWEST:
            return Estimate(seconds, None)
        # The mean of the samples to come is as uncertain as their own scatter, and as that of those that were taken.
        half = WIDTH * statistics.stdev(self._gaps_s) * math.sqrt(left + left * left / n)
        return Estimate(seconds, (max(0.0, seconds - half), seconds + half))
