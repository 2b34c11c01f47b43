"""How often a campaign shows a false difference that is looked at as planned and then after every block.

The first look is by the rule of a planned number of blocks; without a difference more blocks are taken, after each of
which the sequential rule has SHARE of alpha. Prints a table in Markdown. Usage: two_looks.py [CAMPAIGNS, 20000]
"""

import sys
from collections.abc import Callable

import numpy as np

from runoff.statistics import sequential, signs
from runoff.statistics.level import critical
from runoff.statistics.stopping import SHARE

ALPHA = 0.05
BLOCKS = 500
STEP = 1000
FIRST = (5, 10, 20)
SHARES = (1.0, 0.5, SHARE["extended"], 0.1)

Array = np.ndarray


def _between_arms(values: Callable[[np.random.Generator, tuple[int, int, int]], Array]) -> Callable[..., Array]:
    """Return differences of logarithms of two arms of one distribution."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
        logs = np.log(values(rng, (*shape, 2)))
        return logs[..., 1] - logs[..., 0]

    return draw


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t(2)": lambda rng, shape: rng.standard_t(2, shape),
    "bimodal 90/110": _between_arms(
        lambda rng, shape: np.where(rng.random(shape) < 0.5, 90, 110) + 2 * rng.standard_normal(shape)
    ),
    "whole numbers, 10 +- 0.6": _between_arms(lambda rng, shape: np.round(10 + 0.6 * rng.standard_normal(shape))),
}


def count_false(differences: Array, first: int) -> dict[float, int]:
    """Return how many of ``differences`` (campaigns x blocks) show one, by the share of the looks behind the first."""
    n = np.arange(1, BLOCKS + 1)
    mean = np.cumsum(differences, axis=1) / n
    squares = np.maximum(np.cumsum(differences**2, axis=1) - n * mean**2, 1e-300)
    t = np.abs(mean) / np.sqrt(squares / np.maximum(n - 1, 1) / n)
    shows = t[:, first - 1] > critical(ALPHA, 1, first - 1)
    if signs.FEWEST <= first <= signs.MOST:
        for number in np.flatnonzero(shows):
            shows[number] = signs.p(differences[number, :first]) / signs.LENIENCY <= ALPHA
    found = {}
    for share in SHARES:
        limits = np.array([sequential.critical(blocks, share * ALPHA) for blocks in n])
        later = (t[:, first:] > limits[first:]).any(axis=1)
        found[share] = int((shows | later).sum())
    return found


def main(campaigns: int) -> None:
    print(f"Campaigns that show a difference, of {campaigns} without one, by the share of looks behind the first.\n")
    print("| values | first look | " + " | ".join(f"{share:g}" for share in SHARES) + " |")
    print("|---|--:|" + "--:|" * len(SHARES))
    for name, draw in SHAPES.items():
        for first in FIRST:
            counts = dict.fromkeys(SHARES, 0)
            for part in range(0, campaigns, STEP):
                rng = np.random.default_rng([first, part])
                found = count_false(draw(rng, (min(STEP, campaigns - part), BLOCKS)), first)
                counts = {share: counts[share] + found[share] for share in SHARES}
            told = " | ".join(f"{100 * count / campaigns:.1f} %" for count in counts.values())
            print(f"| {name} | {first} blocks | {told} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
