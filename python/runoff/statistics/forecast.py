"""How many more blocks a campaign with ``until`` will take: they are drawn from what is known so far.

Each course draws a spread and a mean as the blocks so far leave them open (chi-square and normal, a flat prior), then
blocks with these, and looks at them as the campaign will.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runoff.results import FIRST_LOOK
from runoff.statistics import sequential

COURSES = 200
MOST_AHEAD = 1000
"""Blocks that are looked ahead."""
INTERVAL = (0.05, 0.5, 0.95)

_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Course:
    """One comparison that is not decided yet."""

    n: int
    """Blocks so far, at least two."""
    mean: float
    sd: float
    margin: tuple[float, float] | None
    """In the unit of the mean, from below zero to above; None where only identical values are the same."""
    least: int
    """Blocks before it can be the same."""
    level_same: float
    level_apart: float
    """Levels of this one comparison: for "same", and for better or worse."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Further blocks until all is decided: median and 90 % interval; None is later than was looked."""

    low: int | None
    median: int | None
    high: int | None


def forecast_blocks(courses: Sequence[Course], most: int) -> Forecast:
    """Return the blocks until all ``courses`` are decided at one look, at most ``most``; the same each time."""
    horizon = min(most, MOST_AHEAD)
    if horizon < 1 or not courses:
        return Forecast(None, None, None) if courses else Forecast(0, 0, 0)
    draw = np.random.default_rng(1)
    decided = np.ones((COURSES, horizon), dtype=bool)
    for course in courses:
        decided &= _simulate_decisions(course, horizon, draw)
    when = np.sort(np.where(decided.any(axis=1), decided.argmax(axis=1) + 1, horizon + 1))
    found = [int(when[int(share * (COURSES - 1))]) for share in INTERVAL]
    return Forecast(*(blocks if blocks <= horizon else None for blocks in found))


def _simulate_decisions(course: Course, horizon: int, draw: np.random.Generator) -> npt.NDArray[np.bool_]:
    mean, sd, n = _simulate_blocks(course, horizon, draw)
    error = sd / np.sqrt(n)
    apart = np.abs(mean) > _find_half_widths(course.n, error, course.level_apart)
    apart &= n >= FIRST_LOOK
    if course.margin is None:
        return apart
    half = _find_half_widths(course.n, error, course.level_same)
    same = (mean - half >= course.margin[0]) & (mean + half <= course.margin[1]) & (n >= course.least)
    decided: npt.NDArray[np.bool_] = apart | same
    return decided


def _simulate_blocks(course: Course, horizon: int, draw: np.random.Generator) -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return the mean and SD after each further block, courses x blocks, and the number of blocks by then."""
    df = course.n - 1
    sd = course.sd * np.sqrt(df / draw.chisquare(df, (COURSES, 1)))
    mean = course.mean + sd / math.sqrt(course.n) * draw.standard_normal((COURSES, 1))
    # From the present mean on, so that squares do not lose their digits.
    steps = mean - course.mean + sd * draw.standard_normal((COURSES, horizon))
    n = course.n + np.arange(1, horizon + 1, dtype=np.float64)
    shift = np.cumsum(steps, axis=1) / n
    squares = df * course.sd**2 + np.cumsum(steps**2, axis=1) - n * shift**2
    return course.mean + shift, np.sqrt(np.maximum(squares, 0) / (n - 1)), n


def _find_half_widths(n: int, error: _Numbers, level: float) -> _Numbers:
    """Return half of the interval after each further block; infinite too where nothing varies but blocks are few."""
    criticals = np.array([sequential.critical(n + step, level) for step in range(1, error.shape[1] + 1)])
    known = np.isfinite(criticals)
    return np.where(known, np.where(known, criticals, 0.0) * error, np.inf)
