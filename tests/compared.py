"""Arms that are compared by values of a few blocks."""

import random
from itertools import pairwise

from runoff.report.words.warnings import describe_warning
from runoff.statistics import Analysis, Observation, Question, analyse

BASE = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
SLOWER = [value + 20 for value in (100.1, 100.6, 99.3, 100.5, 99.1, 100.4)]
NEAR = [value + 0.3 for value in (100.2, 100.9, 99.0, 100.4, 99.6, 100.2)]
WIDE = [80.0, 120.0, 95.0, 130.0, 70.0, 118.0]


def compare(data: dict[str, list[float]], direction: str = "lower", **question) -> Analysis:
    """Round-robin run order: position is block * arms + arm, and every second block the other way round."""
    arms = {
        arm: [
            Observation(value, block * len(data) + (len(data) - 1 - place if block % 2 else place), block)
            for block, value in enumerate(values)
        ]
        for place, (arm, values) in enumerate(data.items())
    }
    return analyse(arms, Question(next(iter(data)), direction, **question))


def kinds(analysis: Analysis) -> list[str]:
    return [warning.kind for warning in analysis.warnings]


def sentences(analysis: Analysis, *which: str) -> list[str]:
    """The texts of the warnings of these kinds, of all kinds if none is given."""
    return [describe_warning(w, analysis) for w in analysis.warnings if not which or w.kind in which]


def step_of(*arms: list[float]) -> float:
    """The smallest gap of distinct values, as a share of them."""
    values = sorted(value for arm in arms for value in arm)
    gaps = [high - low for low, high in pairwise(values) if high - low > 1e-9]
    return min(gaps) * sum(1 / value for value in values) / len(values)


def on_grid(truth: float, sd: float, seed: int, *, grid: float = 1.0, base: float = 8.0, n: int = 45):
    """Values of a clock that truncates: an arm that takes ``truth`` longer, both with noise of ``sd``, in steps of
    ``grid``."""
    rng = random.Random(seed)
    drawn = {
        "base": [rng.gauss(base, sd) for _ in range(n)],
        "arm": [rng.gauss(base * (1 + truth), sd) for _ in range(n)],
    }
    return {arm: [grid * round(value / grid) for value in values] for arm, values in drawn.items()}
