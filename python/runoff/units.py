"""Units of measured values."""

from decimal import Decimal

TIME_EXPONENTS = {"s": 0, "ms": -3, "us": -6, "ns": -9}
"""Units of time; a value in one is so many seconds times ten to this power."""


def scale_time(value: float, unit: str) -> float:
    """Return seconds. The same digits are kept: 1.1 ms is 0.0011 s to the last bit."""
    return float(Decimal(repr(value)).scaleb(TIME_EXPONENTS[unit]))
