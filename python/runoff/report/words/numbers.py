"""How numbers are written: units that keep them short, digits that the spread supports."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from runoff.analysis.table import Table
from runoff.statistics import Analysis, Interval, Summary
from runoff.units import TIME_EXPONENTS

MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Scale:
    """One table's unit and decimals, so that its numbers can be compared by eye."""

    exponent: int
    """Values are divided by ten to this power."""
    unit: str
    decimals: int

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Choose for a table; see ``from_analysis``."""
        return cls.from_analysis(table.analysis, table.metric.unit)

    @classmethod
    def from_analysis(cls, analysis: Analysis, metric_unit: str) -> Self:
        """Choose for the means of ``analysis``; see ``from_summaries``."""
        return cls.from_summaries(tuple(analysis.summaries.values()), metric_unit)

    @classmethod
    def from_summaries(cls, summaries: Sequence[Summary], metric_unit: str) -> Self:
        """Choose for means: two digits of the smallest standard error, at most six of the largest mean."""
        largest = max((abs(s.mean) for s in summaries), default=0.0)
        spreads = [s.sd / math.sqrt(s.n) for s in summaries if s.sd]
        exponent, unit = _unit(largest, metric_unit)
        if largest == 0:
            return cls(
                exponent, unit, 1 if not spreads else _bound_decimals(1 - _magnitude(min(spreads)) + exponent, 0)
            )
        leading = _magnitude(largest) - exponent
        finest = 1 - (_magnitude(min(spreads)) - exponent) if spreads else MOST_DIGITS
        if not spreads and all(float(s.mean).is_integer() for s in summaries) and exponent == 0:
            return cls(exponent, unit, 0)
        return cls(exponent, unit, _bound_decimals(max(finest, 2 - leading), leading))

    def plain(self, value: float) -> str:
        """Return the value in this scale's unit."""
        return f"{self.scaled(value):.{self.decimals}f}"

    def short(self, value: float) -> str:
        """Return the value in this scale's unit, with three digits."""
        scaled = self.scaled(value)
        leading = _magnitude(abs(scaled)) if scaled else 0
        return f"{scaled:.{max(0, 2 - leading)}f}"

    def signed(self, value: float) -> str:
        """Return a difference in this scale's unit."""
        return f"{self.scaled(value):+.{self.decimals}f}"

    def range(self, interval: Interval) -> str:
        """Return an interval of values."""
        return f"[{self.plain(interval.low)}, {self.plain(interval.high)}]"

    def difference(self, value: float) -> str:
        """Return a difference and its unit."""
        return f"{self.signed(value)} {choose_difference_unit(self.unit)}".rstrip()

    def signed_range(self, interval: Interval) -> str:
        """Return an interval of differences."""
        return f"[{self.signed(interval.low)}, {self.signed(interval.high)}]"

    def scaled(self, value: float) -> float:
        """Return a value in this scale's unit, divided in two steps because dividing by 1e-320 overflows."""
        half = self.exponent // 2
        scaled = value / 10.0**half / 10.0 ** (self.exponent - half)
        return scaled + 0.0 if round(scaled, self.decimals) else 0.0


def choose_difference_unit(unit: str) -> str:
    """Return the unit in which two values of ``unit`` differ: percents by points."""
    return "points" if unit == "%" else unit


def _unit(largest: float, unit: str) -> tuple[int, str]:
    if largest == 0:
        return 0, unit
    magnitude = _magnitude(largest)
    if unit in TIME_EXPONENTS:
        seconds = magnitude + TIME_EXPONENTS[unit]
        for name, exponent in TIME_EXPONENTS.items():
            if exponent <= seconds < (exponent + 3 if name != "s" else 6):
                return exponent - TIME_EXPONENTS[unit], name
    if -3 <= magnitude < 6:
        return 0, unit
    exponent = 3 * (magnitude // 3)
    return exponent, f"1e{exponent} {unit}".strip()


def _magnitude(value: float) -> int:
    return math.floor(math.log10(value))


def _bound_decimals(decimals: int, leading: int) -> int:
    return max(0, min(decimals, MOST_DIGITS - 1 - leading))


def format_value(value: float, unit: str) -> str:
    """Return one value with four digits and its unit, the same that a table of such values has."""
    exponent, name = _unit(abs(value), unit)
    scaled = value / 10.0**exponent
    digits = f"{scaled:.0f}" if abs(scaled) >= 1e4 else f"{scaled:.4g}"
    return f"{digits} {name}".rstrip()


def choose_percent_decimals(table: Table) -> int:
    """Return one to three: enough for the narrowest interval, and so that a bound beside zero does not read as zero."""
    comparisons = [c for c in table.analysis.comparisons.values() if c.percent_interval]
    intervals = [c.percent_interval for c in comparisons if c.percent_interval]
    halves = [(i.high - i.low) / 2 for i in intervals if i.high > i.low]
    decimals = 2 if halves and min(halves) < 0.5 else 1
    while decimals < 3 and any(_is_shown_as_zero(i, decimals) for i in intervals):
        decimals += 1
    return decimals


def _is_shown_as_zero(interval: Interval, decimals: int) -> bool:
    nearest = min(abs(interval.low), abs(interval.high))
    return (interval.low > 0 or interval.high < 0) and round(nearest, decimals) == 0


def format_percent(value: float, decimals: int) -> str:
    """Return signed percent without the sign for percent; never longer than eight characters."""
    if abs(value) >= 1e5:
        return f"{value:+.0e}"
    digits = 0 if abs(value) >= 1000 else decimals
    rounded = round(value, digits)
    return f"{rounded + 0.0:+.{digits}f}"


FACTOR_FROM = 100.0
"""Percent from which on a change is easier to read as a factor: x20 for +1900 %."""


def format_change(percent: float, decimals: int) -> str:
    """Return a change with its sign for percent, or as a factor: ``-3.0 %``, ``x20``."""
    return _format_factor(percent) if percent >= FACTOR_FROM else f"{format_percent(percent, decimals)} %"


def format_change_range(interval: Interval, percent: float, decimals: int) -> str:
    """Return the interval of a change written as ``format_change`` writes ``percent``."""
    if percent >= FACTOR_FROM:
        return f"[{_format_factor(interval.low)}, {_format_factor(interval.high)}]"
    return format_percent_range(interval, decimals)


def _format_factor(percent: float) -> str:
    """Return three digits, or more where fewer would read as no change."""
    factor = 1 + percent / 100
    for digits in range(3, MOST_DIGITS):
        if f"{factor:.{digits}g}" != "1":
            return f"x{factor:.{digits}g}"
    return f"x{factor:.{MOST_DIGITS}g}"


def format_percent_range(interval: Interval, decimals: int) -> str:
    """Return an interval of percent changes."""
    return f"[{format_percent(interval.low, decimals)}, {format_percent(interval.high, decimals)}]"


def format_p(p: float) -> str:
    """Return three decimals without the zero, as statisticians write it; four where three would read as 0.05."""
    if p < 0.001:
        return "<.001"
    if p > 0.9995:
        return "1.000"
    digits = 4 if round(p, 3) == 0.05 else 3
    return f"{p:.{digits}f}".removeprefix("0")
