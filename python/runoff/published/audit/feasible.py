"""Checks whether a number of runs can have these quantiles and this mean: linear programs over the sorted runs.

JMP's quantile is at rank p(n + 1), interpolated between two neighbours, and the least or the greatest run if that is 1
or less, or n or more (Hyndman and Fan's type 6). So each printed quantile bounds a weighted mean of two runs.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import floor

from runoff.published.numbers import Quantity
from runoff.published.rows import QuantileRow, jmp_step

RANKS = {
    "q10_s": Fraction(1, 10),
    "q25_s": Fraction(1, 4),
    "median_s": Fraction(1, 2),
    "q75_s": Fraction(3, 4),
    "q90_s": Fraction(9, 10),
}

MOST_RUNS = 100
"""Most runs that are tried."""


def compute_weights(p: Fraction, n: int) -> list[tuple[int, Fraction]]:
    """Return which of ``n`` sorted runs make up the quantile ``p``, with their parts."""
    rank = p * (n + 1)
    if rank <= 1:
        return [(0, Fraction(1))]
    if rank >= n:
        return [(n - 1, Fraction(1))]
    whole = floor(rank)
    return [(whole - 1, 1 - (rank - whole)), (whole, rank - whole)]


def ends_coincide(n: int) -> bool:
    """Return whether the 10 % quantile of ``n`` runs is their minimum, and so the 90 % quantile their maximum."""
    return len(compute_weights(RANKS["q10_s"], n)) == 1


@cache
def compute_mean_bounds(row: QuantileRow, n: int) -> tuple[float, float] | None:
    """Return the least and greatest mean of ``n`` runs with these quantiles; None if no runs can have them."""
    import numpy as np
    from scipy.optimize import linprog

    bounds = [*_constraints(row, n)]
    sums = np.zeros((2 * len(bounds), n))
    limits = np.zeros(2 * len(bounds))
    # Relative to the least run: the solver's tolerance is absolute, and the runs differ little.
    base = row.minimum_s.value
    for line, (parts, known) in enumerate(bounds):
        for run, part in parts:
            sums[2 * line, run], sums[2 * line + 1, run] = float(part), -float(part)
        limits[2 * line], limits[2 * line + 1] = float(known.high - base), -float(known.low - base)
    rising = np.zeros((n - 1, n))
    for run in range(n - 1):
        rising[run, run], rising[run, run + 1] = 1, -1
    every, right = np.vstack([sums, rising]), np.concatenate([limits, np.zeros(n - 1)])
    mean = np.full(n, 1 / n)
    least = linprog(mean, A_ub=every, b_ub=right, bounds=(None, None), method="highs")
    if least.status != 0:
        return None
    most = linprog(-mean, A_ub=every, b_ub=right, bounds=(None, None), method="highs")
    assert least.fun is not None
    assert most.fun is not None
    return float(base) + least.fun, float(base) - most.fun


def _constraints(row: QuantileRow, n: int) -> Iterator[tuple[list[tuple[int, Fraction]], Quantity]]:
    yield [(0, Fraction(1))], row.minimum_s.with_step(jmp_step(row.minimum_s))
    yield [(n - 1, Fraction(1))], row.maximum_s.with_step(jmp_step(row.maximum_s))
    for column, p in RANKS.items():
        number = getattr(row, column)
        yield compute_weights(p, n), number.with_step(jmp_step(number))


def find_fewest_runs(row: QuantileRow) -> int:
    """Return the least number of runs that can have these quantiles; more than `MOST_RUNS` if none can."""
    return next((n for n in range(2, MOST_RUNS + 1) if compute_mean_bounds(row, n) is not None), MOST_RUNS + 1)


def find_run_count(row: QuantileRow, mean: Quantity, least: int, most: int = MOST_RUNS) -> int | None:
    """Return the least number of runs from ``least`` to ``most`` that can have these quantiles and this mean."""
    for n in range(least, most + 1):
        found = compute_mean_bounds(row, n)
        if found is not None and found[0] <= float(mean.high) and float(mean.low) <= found[1]:
            return n
    return None


def find_possible_runs(row: QuantileRow, stated: int | None) -> tuple[int, int]:
    """Return the least and the greatest possible number of runs: as stated, or fewer if the row says so."""
    if stated is None:
        return 2, MOST_RUNS
    fewer = row.q10_s.value == row.minimum_s.value or row.q90_s.value == row.maximum_s.value
    return (2, stated - 1) if fewer and not ends_coincide(stated) else (stated, MOST_RUNS)
