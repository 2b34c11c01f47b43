"""Numbers as they were printed, and bounds of what is computed from them."""

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Self

PRINTED = re.compile(r"[+-]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity and the bounds between which it is known to lie; arithmetic carries the bounds along."""

    value: Fraction
    low: Fraction
    high: Fraction

    @classmethod
    def exactly(cls, value: int | Fraction) -> Self:
        """Return a quantity that is known exactly."""
        exact = Fraction(value)
        return cls(exact, exact, exact)

    def __add__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Quantity") -> "Quantity":
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Quantity(self.value * other.value, min(ends), max(ends))

    def __truediv__(self, other: "Quantity") -> "Quantity":
        """Divide; raise ZeroDivisionError where ``other`` may be zero."""
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError
        return self * Quantity(1 / other.value, 1 / other.high, 1 / other.low)


@dataclass(frozen=True, slots=True)
class Number:
    """One printed number. Equal texts are equal numbers; ``1.0`` and ``1.00`` are not."""

    text: str
    value: Fraction
    step: Fraction
    """The value of one unit in the last printed digit."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a printed number. Raises ValueError that says what is wrong."""
        if PRINTED.fullmatch(text) is None:
            raise ValueError(f"{text!r} is not a number")
        plain = text.replace(",", "")
        decimals = len(plain.partition(".")[2])
        return cls(text, Fraction(plain), Fraction(1, 10**decimals))

    @property
    def decimals(self) -> int:
        """How many decimals were printed."""
        return len(self.text.partition(".")[2])

    @property
    def quantity(self) -> Quantity:
        """The quantities that are rounded to this number."""
        return self.with_step(self.step)

    def with_step(self, step: Fraction) -> Quantity:
        """Return the quantity if a unit of the last digit is ``step``: trailing zeros may have been left out."""
        return Quantity(self.value, self.value - step / 2, self.value + step / 2)

    def __str__(self) -> str:
        return self.text


class Fit(StrEnum):
    """How a printed number comes from a quantity."""

    ROUNDED = "rounded"
    """The quantity, computed from printed numbers, is rounded to it."""
    HIDDEN = "hidden"
    """The quantity may be rounded to it, depending on digits that were not printed."""
    CUT = "cut"
    """The quantity is cut off to it, not rounded."""
    NEITHER = "neither"


def find_fit(printed: Number, quantity: Quantity) -> Fit:
    """Return the first of these that holds."""
    half = printed.step / 2
    if abs(quantity.value - printed.value) <= half:
        return Fit.ROUNDED
    if quantity.low <= printed.value + half and quantity.high >= printed.value - half:
        return Fit.HIDDEN
    return Fit.CUT if can_be_cut(printed, quantity) else Fit.NEITHER


def can_be_cut(printed: Number, quantity: Quantity) -> bool:
    """Return whether some value within the bounds gives the printed number when digits are left off."""
    low, high, start = quantity.low, quantity.high, printed.value
    if start < 0:
        low, high, start = -high, -low, -start
    return low < start + printed.step and high >= start


def format_number(value: Fraction, decimals: int, sign: str = "") -> str:
    """Return the number with commas in thousands; with ``+`` as ``sign`` it always has a sign."""
    return f"{float(round(value, decimals)):{sign},.{decimals}f}"
