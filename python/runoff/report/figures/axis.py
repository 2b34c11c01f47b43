"""From values to pixels, with round ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

NARROWEST = 1e-9
"""Relative to the values; below this, ticks would differ only in digits nobody reads."""

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

LOG_FROM = 20.0
"""Times the smallest value from which on the axis of values is logarithmic."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis; ``start`` and ``end`` are pixels, and may run backwards."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def from_range(cls, low: float, high: float, start: float, end: float) -> "Axis":
        """Return an axis with 5 % of air on both sides, and some width even for one value."""
        size = max(abs(low), abs(high))
        air = (high - low) * 0.05 if high - low > NARROWEST * size else size * 0.05 or 1.0
        return cls(low - air, high + air, start, end)

    def locate(self, value: float) -> float:
        """Return the pixel of a value; values beyond the ends stay at the end."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Return at most ``most`` round values with their labels."""
        rough = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * step for step in STEPS if power * step >= rough * 0.999999)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9) + (step / power == 2.5))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(i * step, f"{i * step:.{decimals}f}") for i in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis for positive values; see ``Axis``."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def from_range(cls, low: float, high: float, start: float, end: float) -> "LogAxis":
        """Return an axis with 5 % of air on both sides."""
        air = (high / low) ** 0.05
        return cls(low / air, high * air, start, end)

    def locate(self, value: float) -> float:
        """Return the pixel of a value; values beyond the ends stay at the end."""
        if value <= self.low:
            return self.start
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + min(1.0, share) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Return at most ``most`` round values with their labels: powers of ten with halves and doubles if they fit."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1, 2, 5), (1, 3), (1,)):
            values = [digit * 10.0**power for power in powers for digit in digits]
            inside = [value for value in values if self.low <= value <= self.high]
            if len(inside) <= most:
                break
        step = max(1, math.ceil(len(inside) / most))
        return [(value, f"{value:.6g}") for value in inside[::step]]


def is_wide(values: Sequence[float]) -> bool:
    """Return whether only a logarithmic axis shows all of these values."""
    return min(values) > 0 and max(values) > LOG_FROM * min(values)


def choose_axis(values: Sequence[float], start: float, end: float) -> Axis | LogAxis:
    """Return the axis that shows all of these values."""
    kind = LogAxis if is_wide(values) else Axis
    return kind.from_range(min(values), max(values), start, end)
