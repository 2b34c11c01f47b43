"""How often verdicts on arms without blocks are wrong: by simulation, 20,000 tables a cell.

No machine is measured. The table is that of docs/statistics.md. UNPAIRED_TABLES=1000 is quicker. Where numbers of
runs are unequal and values are dealt anew, it is 500 tables.
"""

import math
import os
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import verdict_scenarios as scenarios
from scipy import special
from verdict_scenarios import Array, Shape

from runoff.statistics.blocks import STRONGEST
from runoff.statistics.dependence import CERTAIN_FACTOR, CERTAIN_Z, LEAST_RUNS
from runoff.statistics.permutation import deal, needs_deals

COUNTS = (5, 10, 20)
ARMS = (2, 3)
UNEQUAL = ((5, 20), (20, 5), (10, 20))
"""Runs of the baseline and of the other arm."""
MOST_DEALT = 500
"""Tables whose values are dealt anew."""
ALPHA = 0.05
NOTHING = 1e-12

Draw = Callable[[np.random.Generator, Shape, Array], Array]


def find_p(values: Array) -> Array:
    """Return p of each arm against the first, (tables, arms - 1), of values (tables, runs, arms); NaN: missing."""
    logs = np.log(values)
    n = np.sum(~np.isnan(logs), axis=1)
    mean, variance = np.nanmean(logs, axis=1), np.nanvar(logs, axis=1, ddof=1) / n
    difference = mean[:, 1:] - mean[:, :1]
    both = variance[:, 1:] + variance[:, :1]
    parts = variance[:, 1:] ** 2 / (n[:, 1:] - 1) + variance[:, :1] ** 2 / (n[:, :1] - 1)
    factor = find_runs_per_one(logs)
    df = np.maximum(1.0, both**2 / parts / factor)
    p: Array = 2 * special.stdtr(df, -np.abs(difference / np.sqrt(both * factor)))
    dealt = np.vectorize(lambda base, other: 2 / math.comb(int(base + other), int(base)))(n[:, :1], n[:, 1:])
    constant = both < NOTHING**2
    p = np.where(constant, np.where(np.abs(difference) < NOTHING, 1.0, dealt), p)
    for table, arm in zip(*np.nonzero(_needs_deals(n) & ~constant), strict=True):
        arms = (logs[table, :, each][~np.isnan(logs[table, :, each])] for each in (0, arm + 1))
        t = difference[table, arm] / math.sqrt(both[table, arm])
        p[table, arm] = max(p[table, arm], deal(*arms).find_p(t))
    return p


def _needs_deals(n: Array) -> Array:
    """Return where the other arm and the first have very unequal numbers of runs, (tables, arms - 1)."""
    found: Array = np.vectorize(needs_deals)(n[:, :1], n[:, 1:])
    return found


def find_runs_per_one(logs: Array) -> Array:
    """Return how many runs of each arm and of the first say as much as one, (tables, arms - 1)."""
    # Void runs have no neighbours.
    logs = np.take_along_axis(logs, np.argsort(np.isnan(logs), axis=1, kind="stable"), axis=1)
    n = np.sum(~np.isnan(logs), axis=1)
    centred = logs - np.nanmean(logs, axis=1, keepdims=True)
    squares = np.nansum(centred**2, axis=1)
    own = np.where(
        squares > 0, np.nansum(centred[:, 1:] * centred[:, :-1], axis=1) / np.where(squares > 0, squares, 1), 0
    )
    # An arm whose runs are all alike, or two, has no correlation.
    known = (np.nanmax(logs, axis=1) - np.nanmin(logs, axis=1) > NOTHING) & (n > 2)
    n = np.where(known, n, 0)
    count = np.maximum(n[:, :1] + n[:, 1:], 1)
    r = (n[:, :1] * own[:, :1] + n[:, 1:] * own[:, 1:] + known[:, :1] + known[:, 1:]) / count
    r = np.where(r * np.sqrt(count) > CERTAIN_Z, CERTAIN_FACTOR * r, r)
    r = np.where(count < LEAST_RUNS, 0.0, np.clip(r, 0.0, STRONGEST))
    return (1 + r) / (1 - r)


def count_false(values: Array) -> float:
    """Return the percent of tables with an arm that differs at Sidak's level."""
    if _needs_deals(np.sum(~np.isnan(values), axis=1)).any():
        values = values[:MOST_DEALT]
    p = find_p(values)
    level = -math.expm1(math.log1p(-ALPHA) / p.shape[1])
    return 100 * float(np.mean((p <= level).any(axis=1)))


def draw_values(draw: Draw, shape: Shape) -> Array:
    rng = np.random.default_rng([1, *shape.size])
    return draw(rng, shape, scenarios.order(rng, shape))


def draw_unequal(draw: Draw, tables: int, base: int, other: int) -> Array:
    """Return tables whose arms have other numbers of runs."""
    values = draw_values(draw, Shape(tables, max(base, other), 2))
    values[:, base:, 0] = np.nan
    values[:, other:, 1] = np.nan
    return values


def print_table(title: str, group: Mapping[str, Draw], tables: int) -> None:
    heads = [f"{k} arms, {n}" for k in ARMS for n in COUNTS] + [f"{a} and {b}" for a, b in UNEQUAL]
    print(f"{title}: false + or - in a table, %\n{'':42}" + "".join(head.rjust(12) for head in heads))
    for name, draw in group.items():
        cells = [count_false(draw_values(draw, Shape(tables, n, k))) for k in ARMS for n in COUNTS]
        cells += [count_false(draw_unequal(draw, tables, base, other)) for base, other in UNEQUAL]
        print(f"{name:42}" + "".join(f"{cell:12.1f}" for cell in cells), flush=True)


def main() -> None:
    warnings.simplefilter("ignore", RuntimeWarning)
    tables = int(os.environ.get("UNPAIRED_TABLES", "20000"))
    print_table("scenarios", scenarios.USUAL, tables)
    print_table("where the rule does not hold", scenarios.BEYOND, tables)


if __name__ == "__main__":
    main()
