"""How far the digits that values were written with leave a mean open."""

import numpy as np
import numpy.typing as npt

from runoff.statistics.describe import ROUNDING

MOST_DIGITS = 7
"""Digits that are looked at: finer steps matter to nobody."""
LEAST_VALUES = 5
"""Values of one power of ten below which a common last digit is chance."""
USUAL_SHARE = 0.9
"""Share of values that have no finer digits; a few that have are of another source."""

_Numbers = npt.NDArray[np.float64]


def find_step(values: _Numbers, *, logs: bool) -> float | None:
    """Return the step in which values come, in times of a value where there are ratios (``logs``).

    It is the smallest gap of distinct values, or that of the last digit they are written with, which may float: 9.9,
    10 and 11 have steps of 0.1 and of 1. A value is known to half a step, and so is the one it is compared with:
    together their mean is off by a step at most. Where no two values are equal they spread over many more steps than
    one, and cutting them off is noise like theirs: 0. None where all are one number.
    """
    with np.errstate(over="ignore"):
        gaps = np.diff(np.sort(values))
        distinct = gaps[gaps > ROUNDING * np.abs(values).max()]
        if len(distinct) == len(gaps):
            return 0.0
        if not len(distinct):
            return None
        steps = np.maximum(_find_last_digits(values), distinct.min())
        return float(np.mean(steps / values) if logs else np.mean(steps))


def _find_last_digits(values: _Numbers) -> _Numbers:
    """Return for each value the power of ten of its last digit, as values of its size have it; 0 where not known."""
    size = np.abs(values)
    powers = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    steps = np.zeros(len(values))
    for power in np.unique(powers).astype(int):
        group = size[(powers == power) & (size > 0)]
        if len(group) < LEAST_VALUES:
            continue
        last = _find_last_digit(group, power)
        if last is None and np.ptp(group) <= ROUNDING * group[0] and _is_written(group, power).all():
            last = _continue_digits(size[(powers == power - 1) & (size > 0)], power - 1)
        steps[(powers == power) & (size > 0)] = 0.0 if last is None else 10.0**last
    return steps


def _find_last_digit(values: _Numbers, power: int) -> int | None:
    """Return the place of the last digit; None of one round number, as 200 among 201s, or of more digits than count."""
    for last in _list_places(power):
        written = _is_written(values, last)
        if np.mean(written) >= USUAL_SHARE and np.ptp(values[written]) > ROUNDING * values.max():
            return last
    return None


def _continue_digits(smaller: _Numbers, power: int) -> int | None:
    """Return the place of the last digit of values that are all 10, or another power, from those just below: if 9.9 is
    written to tenths, 10 is to ones. Whole numbers are exact: 99 is followed by 100."""
    place = next((last for last in _list_places(power) if len(smaller) and _is_written(smaller, last).all()), power)
    return place + 1 if place < min(power, 0) else None


def _list_places(power: int) -> range:
    return range(power, max(power - MOST_DIGITS, -300), -1)


def _is_written(values: _Numbers, last: int) -> npt.NDArray[np.bool_]:
    """Return which values have no digit behind this place."""
    scaled = values / 10.0**last
    return np.asarray(np.abs(scaled - np.round(scaled)) <= ROUNDING * (1 + scaled))
