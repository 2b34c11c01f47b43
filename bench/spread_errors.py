"""How often arms that vary alike are called different, and how often what varies more is found: by simulation.

No machine is measured. The lines are the tables of docs/statistics.md.

usage: bench/spread_errors.py [CAMPAIGNS]
"""

import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from runoff.statistics import Observation, Question
from runoff.statistics.spread import compare_spread

CAMPAIGNS = 4000
BLOCKS = (8, 10, 14, 20, 40)
MOST_PERCENT = 5.5

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
"""Logarithms of values."""


def normal(sd: float) -> Draw:
    return lambda rng, n: rng.normal(0, sd, n)


def mixed(share: float, far: float, sd: float) -> Draw:
    """Return runs of which a ``share`` is ``far`` from the rest."""
    return lambda rng, n: np.where(rng.random(n) < share, np.log(far), 0.0) + rng.normal(0, sd, n)


ALIKE: dict[str, Draw] = {
    "normal, 5 %": normal(0.05),
    "normal, 80 %": normal(0.8),
    "Student's t with 2 degrees of freedom": lambda rng, n: 0.05 * rng.standard_t(2, n),
    "two humps: 30 % of the runs 30 times as long": mixed(0.3, 30, 0.05),
    "10 % of the runs 10 times as long": mixed(0.1, 10, 0.02),
    "20 steps": lambda rng, n: np.log(np.round(20 * np.exp(rng.normal(0, 0.05, n)))),
    "drift by 65 %": lambda rng, n: rng.normal(0, 0.03, n) + np.linspace(0, 0.5, n),
}
MORE: dict[str, tuple[Draw, Draw]] = {
    "3 % against 9 %": (normal(0.03), normal(0.09)),
    "3 % against 15 %": (normal(0.03), normal(0.15)),
    "3 % against 90 %": (normal(0.03), normal(0.9)),
    "5 % against two humps": (normal(0.05), mixed(0.5, 30, 0.05)),
    "2 % against 10 % of the runs 10 times as long": (normal(0.02), mixed(0.1, 10, 0.02)),
}


def measure_share(first: Draw, second: Draw, n: int, campaigns: int) -> float:
    """Return the percent of campaigns of two arms that call their spreads different."""
    rng = np.random.default_rng(n)
    hits = 0
    for _ in range(campaigns):
        baseline, arm = (
            [Observation(float(value), i, i) for i, value in enumerate(np.exp(draw(rng, n)))]
            for draw in (first, second)
        )
        found = compare_spread(baseline, arm, Question("base", "lower"), 1)
        hits += found is not None and found.differs
    return 100 * hits / campaigns


def main(campaigns: int = CAMPAIGNS) -> None:
    worst = 0.0
    head = f"| {' | '.join(map(str, BLOCKS))} |"
    print(f"| both arms vary alike, percent called different {head}")
    for name, draw in ALIKE.items():
        shares = [measure_share(draw, draw, n, campaigns) for n in BLOCKS]
        worst = max(worst, *shares)
        print(f"| {name} | {' | '.join(f'{share:.1f}' for share in shares)} |", flush=True)
    print(f"| one varies more, percent found {head}")
    for name, (first, second) in MORE.items():
        shares = [measure_share(first, second, n, campaigns) for n in BLOCKS]
        print(f"| {name} | {' | '.join(f'{share:.0f}' for share in shares)} |", flush=True)
    verdict = "met" if worst <= MOST_PERCENT else "MISSED"
    print(
        f"the largest share called different of arms that vary alike: {worst:.1f} %; target {MOST_PERCENT}: {verdict}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
