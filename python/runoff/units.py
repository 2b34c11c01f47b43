"""Units of measured values. crates/numbers has the same table, by which the agent reads what programs print."""

from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache

TIME_EXPONENTS = {"s": 0, "ms": -3, "us": -6, "ns": -9}
"""Units of time in which reports show values; a value in one is this power of ten of seconds."""

_THOUSANDS = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
_BYTES = {"": 1, **_THOUSANDS, "T": 10**12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}

TIME: Mapping[str, int] = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec", "usecs", "microsecond", "microseconds"), 10**3),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 10**6),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 10**9),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60 * 10**9),
    **dict.fromkeys(("h", "hour", "hours"), 3600 * 10**9),
    **dict.fromkeys(("day", "days"), 86400 * 10**9),
}
"""Units of time, in nanoseconds."""

RATES: Mapping[str, int] = {
    **{f"{prefix}B/s": size for prefix, size in (*_BYTES.items(), ("Ti", 1 << 40))},
    **{f"{prefix}B/sec": size for prefix, size in _BYTES.items() if prefix != "T"},
}
"""Bytes per second."""

BITS: Mapping[str, int] = {
    **{f"{prefix}bit/s": size for prefix, size in (("", 1), *_THOUSANDS.items())},
    **{f"{prefix}bits/sec": size for prefix, size in (("", 1), *_THOUSANDS.items()) if prefix != "k"},
    **{f"{prefix}bps": size for prefix, size in (("", 1), *_THOUSANDS.items())},
}
"""Bits per second."""

KINDS: tuple[Mapping[str, int], ...] = (
    TIME,
    BITS,
    {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9},
    {f"{prefix}B": size for prefix, size in (*_BYTES.items(), ("Ti", 1 << 40))},
    RATES,
)
"""Units that can be converted into each other, as multiples of the smallest."""

_PRECISE = Context(prec=50)


@cache
def find_factor(unit: str, wanted: str) -> Fraction | None:
    """Return how many of the unit ``wanted`` one ``unit`` is; None if they are not of one kind."""
    if unit == wanted:
        return Fraction(1)
    for kind in KINDS:
        if unit in kind and wanted in kind:
            return Fraction(kind[unit], kind[wanted])
    (head, _, rest), (other, _, of) = unit.partition("/"), wanted.partition("/")
    if rest and rest == of and is_known(head) and is_known(other):
        return find_factor(head, other)
    if head == other and rest in TIME and of in TIME:
        return Fraction(TIME[of], TIME[rest])
    return None


def is_known(unit: str) -> bool:
    """Return whether it is a unit that is converted."""
    return any(unit in kind for kind in KINDS)


def convert(value: float, factor: Fraction) -> float:
    """Return ``value`` times ``factor``. The same digits are kept: 1.1 ms is 0.0011 s to the last bit."""
    if factor == 1:
        return value
    product = _PRECISE.multiply(Decimal(repr(value)), Decimal(factor.numerator))
    return float(_PRECISE.divide(product, Decimal(factor.denominator)))


def name_canonical(unit: str) -> str:
    """Return the name by which reports know a unit of time: ``s`` for ``sec`` and for minutes."""
    if unit not in TIME:
        return unit
    return next((name for name in TIME_EXPONENTS if TIME[name] == TIME[unit]), "s")


def scale_time(value: float, unit: str) -> float:
    """Return seconds."""
    return convert(value, Fraction(TIME[unit], TIME["s"]))
