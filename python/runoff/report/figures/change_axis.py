"""The axis of changes against a baseline: percent, or factors where an arm takes more than twice as much."""

from collections.abc import Sequence
from dataclasses import dataclass

from runoff.report.figures.axis import Axis, LogAxis
from runoff.report.words.numbers import FACTOR_FROM
from runoff.statistics import Interval

FARTHEST = Interval(1e-3, 1e3)
"""Factors beyond these are cut at the frame, so that one wild arm does not flatten the rest."""


@dataclass(frozen=True, slots=True)
class ChangeAxis:
    """Locates percent."""

    axis: Axis | LogAxis

    @classmethod
    def from_intervals(cls, intervals: Sequence[Interval], margin: float, start: float, end: float) -> "ChangeAxis":
        """Return an axis that has all ``intervals`` and twice the ``margin`` on it, both in percent."""
        low = min(-2 * margin, *(interval.low for interval in intervals))
        high = max(2 * margin, *(interval.high for interval in intervals))
        if high < FACTOR_FROM:
            return cls(Axis.from_range(low, high, start, end))
        factors = max(FARTHEST.low, 1 + low / 100), min(FARTHEST.high, 1 + high / 100)
        return cls(LogAxis.from_range(*factors, start, end))

    @property
    def is_logarithmic(self) -> bool:
        """Whether labels are factors."""
        return isinstance(self.axis, LogAxis)

    @property
    def start(self) -> float:
        """The first pixel."""
        return self.axis.start

    @property
    def end(self) -> float:
        """The last pixel."""
        return self.axis.end

    def locate(self, percent: float) -> float:
        """Return the pixel of a change; changes beyond the ends stay at the end."""
        return self.axis.locate(self._scale(percent))

    def compare(self, percent: float) -> int:
        """Return -1 for a change below the axis, 1 for one above, 0 for one on it."""
        value = self._scale(percent)
        return (value > self.axis.high) - (value < self.axis.low)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Return at most ``most`` changes in percent, with their labels."""
        found = self.axis.ticks(most)
        if self.is_logarithmic:
            return [(100 * (value - 1), f"x{label}") for value, label in found]
        return [(value, f"+{label}" if value > 0 else label) for value, label in found]

    def _scale(self, percent: float) -> float:
        return 1 + percent / 100 if self.is_logarithmic else percent
