"""How often a history shows a change where there is none, and finds one where there is: by simulation.

No machine is measured. The tables are those of docs/history.md. CHANGE_HISTORIES=100 is quicker.
"""

import os

# A process for each CPU: threads of its own in each would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import numpy.typing as npt

from runoff.statistics.change_points import find_change_points

Array = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]

LENGTHS = (8, 12, 20, 50)
SIZES = (2.0, 3.0, 5.0)
BEFORE = 20
AFTER = (2, 3, 4, 6, 10, 20)
ALPHA = 0.05


def _two_modes(rng: np.random.Generator, count: int) -> Array:
    return rng.choice([90.0, 110.0], count) + rng.normal(size=count)


def _finer_later(rng: np.random.Generator, count: int) -> Array:
    return rng.normal(size=count) / np.where(np.arange(count) < count // 2, 1.0, 3.0)


def _alike(r: float, rng: np.random.Generator, count: int) -> Array:
    values = rng.normal(size=count)
    for place in range(1, count):
        values[place] = r * values[place - 1] + np.sqrt(1 - r * r) * values[place]
    return values


SCENARIOS: dict[str, Draw] = {
    "normal": lambda rng, count: rng.normal(size=count),
    "t with 2 df": lambda rng, count: rng.standard_t(2, count),
    "lognormal, sigma 1": lambda rng, count: rng.lognormal(0, 1, count),
    "two modes": _two_modes,
    "in whole SDs": lambda rng, count: np.round(rng.normal(size=count)),
    "three times finer from the middle on": _finer_later,
    "neighbours alike, r = 0.3": partial(_alike, 0.3),
    "neighbours alike, r = 0.6": partial(_alike, 0.6),
}


def find(values: Array) -> list[int]:
    return [change.first for change in find_change_points(values.tolist(), ALPHA)]


def print_false(pool: ProcessPoolExecutor, histories: int) -> None:
    """Print the percent of histories in which nothing changes that show a change."""
    print("| campaigns |" + "".join(f" {count} |" for count in LENGTHS))
    for name, draw in SCENARIOS.items():
        cells = []
        for count in LENGTHS:
            rng = np.random.default_rng([1, count])
            found = pool.map(find, [draw(rng, count) for _ in range(histories)], chunksize=20)
            cells.append(100 * sum(map(bool, found)) / histories)
        print(f"| {name} |" + "".join(f" {cell:.1f} |" for cell in cells), flush=True)


def print_found(pool: ProcessPoolExecutor, histories: int) -> None:
    """Print the percent of histories that show a step at most one campaign beside its place, and show others."""
    print("| campaigns since |" + "".join(f" {count} |" for count in AFTER))
    for size in SIZES:
        cells = []
        for after in AFTER:
            rng = np.random.default_rng([2, after])
            step = np.where(np.arange(BEFORE + after) < BEFORE, 0.0, size)
            drawn = [rng.normal(size=BEFORE + after) + step for _ in range(histories)]
            found = list(pool.map(find, drawn, chunksize=20))
            near = sum(any(abs(first - BEFORE) <= 1 for first in each) for each in found)
            others = sum(any(abs(first - BEFORE) > 1 for first in each) for each in found)
            cells.append(f"{100 * near / histories:.0f} ({100 * others / histories:.0f})")
        print(f"| {size:g} SD |" + "".join(f" {cell} |" for cell in cells), flush=True)


def main() -> None:
    histories = int(os.environ.get("CHANGE_HISTORIES", "2000"))
    with ProcessPoolExecutor() as pool:
        print_false(pool, histories)
        print_found(pool, histories)


if __name__ == "__main__":
    main()
