"""Units of measured values."""

TIME_EXPONENTS = {"s": 0, "ms": -3, "us": -6, "ns": -9}
"""Units of time; a value in one is so many seconds times ten to this power."""
