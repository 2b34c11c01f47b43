"""How often the sequential rule finds a difference where there is none, if somebody looks after each block.

Each campaign is looked at after each block from some block on, up to 500; one false + or - at any look counts against
it. The critical values are those of the program, the campaigns are drawn here all at once. Prints tables in Markdown.
Usage: any_looking.py [CAMPAIGNS, 2000]
"""

import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from runoff.results import FIRST_LOOK
from runoff.statistics import sequential
from runoff.statistics.level import level_for_each
from runoff.statistics.power import least_blocks
from runoff.statistics.values import DEFAULT_RARE

BLOCKS = 500
ARMS = (2, 3, 5)
FIRST_LOOKS = (3, 5, 10, 20)
ALPHA = 0.05
STEP = 250
MARGIN = 0.35
"""In SDs of the differences: 1 % at 2 % noise of a run."""

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, int], Array]
"""Logarithms of values: campaigns x arms x blocks."""


def _log_of_times(noise: Draw) -> Draw:
    """Return logarithms of values about 100 with this noise, at least 1."""
    return lambda draw, runs, arms: np.log(np.maximum(100 + noise(draw, runs, arms), 1))


def _normal(sd: float) -> Draw:
    return lambda draw, runs, arms: sd * draw.standard_normal((runs, arms, BLOCKS))


def _uneven(which: int) -> Draw:
    def values(draw: np.random.Generator, runs: int, arms: int) -> Array:
        noise = 0.01 * draw.standard_normal((runs, arms, BLOCKS))
        noise[:, which] *= 10
        return noise

    return values


def _graded(draw: np.random.Generator, runs: int, arms: int) -> Array:
    return np.linspace(0.01, 0.1, arms)[:, None] * draw.standard_normal((runs, arms, BLOCKS))


def _stalls(share: float, factor: float) -> Draw:
    def values(draw: np.random.Generator, runs: int, arms: int) -> Array:
        shape = (runs, arms, BLOCKS)
        stalled = np.where(draw.random(shape) < share, factor, 1.0)
        return np.log((100 + 0.5 * draw.standard_normal(shape)) * stalled)

    return values


def _blocks(draw: np.random.Generator, runs: int, arms: int) -> Array:
    return 0.02 * draw.standard_normal((runs, arms, BLOCKS)) + 0.1 * draw.standard_normal((runs, 1, BLOCKS))


def _bimodal(draw: np.random.Generator, runs: int, arms: int) -> Array:
    shape = (runs, arms, BLOCKS)
    return np.log(np.where(draw.random(shape) < 0.5, 90, 110) + 2 * draw.standard_normal(shape))


def _integers(draw: np.random.Generator, runs: int, arms: int) -> Array:
    return np.log(np.round(10 + 0.6 * draw.standard_normal((runs, arms, BLOCKS))))


def _ties(draw: np.random.Generator, runs: int, arms: int) -> Array:
    shape = (runs, arms, BLOCKS)
    return np.log(np.where(draw.random(shape) < 0.9, 100, 100 + draw.integers(-5, 6, shape)))


def _in_run_order(noise: Callable[[np.random.Generator, int, int], Array]) -> Draw:
    """Return noise of the machine over the runs, dealt to the arms by an order of each block."""

    def values(draw: np.random.Generator, runs: int, arms: int) -> Array:
        course = noise(draw, runs, arms * BLOCKS).reshape(runs, BLOCKS, arms)
        return np.moveaxis(draw.permuted(course, axis=2), 2, 1)

    return values


def _drift(draw: np.random.Generator, runs: int, length: int) -> Array:
    return np.log(100 + 30 * np.arange(length) / length + 2 * draw.standard_normal((runs, length)))


def _drift_at_once(draw: np.random.Generator, runs: int, length: int) -> Array:
    """Return a drift of 30 % in the first tenth of the runs."""
    course = np.minimum(1, 10 * np.arange(length) / length)
    return np.log(100 + 30 * course + 0.3 * draw.standard_normal((runs, length)))


def _autoregressive(draw: np.random.Generator, runs: int, length: int) -> Array:
    noise = 0.05 * draw.standard_normal((runs, length))
    for place in range(1, length):
        noise[:, place] = 0.95 * noise[:, place - 1] + noise[:, place] * math.sqrt(1 - 0.95**2)
    return noise


SCENARIOS: dict[str, Draw] = {
    "normal 5 %": _normal(0.05),
    "lognormal, sigma 1": _normal(1.0),
    "t(2) about 100, scale 5": _log_of_times(lambda draw, runs, arms: 5 * draw.standard_t(2, (runs, arms, BLOCKS))),
    "Cauchy in logarithms": lambda draw, runs, arms: 0.01 * draw.standard_cauchy((runs, arms, BLOCKS)),
    "block effects 10 %, noise 2 %": _blocks,
    "baseline 10 times noisier": _uneven(0),
    "one arm 10 times noisier": _uneven(-1),
    "spread 1 to 10 times": _graded,
    "stalls: 10 % of runs +30 %": _stalls(0.1, 1.3),
    "stalls: 2 % of runs x 2.5": _stalls(0.02, 2.5),
    "bimodal 90/110": _bimodal,
    "whole numbers, 10 +- 0.6": _integers,
    "ties: 90 % one value": _ties,
    "drift 30 % in run order": _in_run_order(_drift),
    "drift 30 % in the first tenth": _in_run_order(_drift_at_once),
    "AR(1) 0.95 in run order": _in_run_order(_autoregressive),
}
"""All arms have one distribution, or one centre about which they are symmetric: no rule is to find a difference."""


def _skewed(noise: Callable[[np.random.Generator, tuple[int, int]], Array]) -> Draw:
    def values(draw: np.random.Generator, runs: int, arms: int) -> Array:
        steady = 0.01 * draw.standard_normal((runs, arms, BLOCKS))
        steady[:, -1] = 0.05 * noise(draw, (runs, BLOCKS))
        return steady

    return values


def _rare(share: float, size: float) -> Callable[[np.random.Generator, tuple[int, int]], Array]:
    return lambda draw, shape: (np.where(draw.random(shape) < share, 1.0, 0.0) - share) * size


SKEWED: dict[str, Draw] = {
    "gamma(4), skewness 1": _skewed(lambda draw, shape: draw.gamma(4, size=shape) / 2 - 2),
    "Gumbel, skewness 1.1": _skewed(lambda draw, shape: draw.gumbel(size=shape) - float(np.euler_gamma)),
    "lognormal 0.5, skewness 1.75": _skewed(
        lambda draw, shape: np.exp(0.5 * draw.standard_normal(shape)) - math.exp(0.125)
    ),
    "exponential, skewness 2": _skewed(lambda draw, shape: draw.exponential(size=shape) - 1),
    "20 % of runs +5 %, skewness 1.5": _skewed(_rare(0.2, 1.0)),
    "10 % of runs +30 %, else faster": _skewed(_rare(0.1, 20 * math.log(1.3))),
    "5 % of runs +60 %, else faster": _skewed(_rare(0.05, 20 * math.log(1.6))),
}
"""One arm is skewed, and its mean logarithm is the others': no rule that has not seen the tail can know."""


def statistics(differences: Array) -> Array:
    """|t| of the first 1, 2, ... values along the last axis; infinite where they are one number."""
    n = np.arange(1, differences.shape[-1] + 1)
    mean = np.cumsum(differences, axis=-1) / n
    squares = np.cumsum(differences**2, axis=-1)
    spread = np.maximum(squares - n * mean**2, 0)
    spread[spread <= 1e-12 * squares] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean) * np.sqrt(n * np.maximum(n - 1, 1) / spread)
    return np.nan_to_num(t, nan=0.0, posinf=np.inf)


def find_separated(differences: Array, alpha: float) -> Array:
    """After each block: whether zero is outside of the interval."""
    places = range(1, differences.shape[-1] + 1)
    bounds = np.array([sequential.critical(n, alpha) for n in places])
    signs = np.array([sequential.sign_flip(n) <= alpha for n in places])
    t = statistics(differences)
    return np.where(np.isinf(t), signs, t > bounds)


def simulate_looks(draw: Draw, arms: int, campaigns: int, seed: int) -> Iterator[Array]:
    """For some campaigns at a time: whether some arm is separated at each look."""
    generator = np.random.default_rng([seed, arms])
    alpha = level_for_each(ALPHA, arms - 1)
    for begin in range(0, campaigns, STEP):
        values = draw(generator, min(STEP, campaigns - begin), arms)
        yield find_separated(values[:, 1:] - values[:, :1], alpha).any(axis=1)


def simulate_false_rates(draw: Draw, arms: int, campaigns: int, seed: int = 1) -> dict[int, float]:
    """Fraction of campaigns with a false + or -, by the first look."""
    wrong = np.concatenate([*simulate_looks(draw, arms, campaigns, seed)])
    return {first: float(wrong[:, first - 1 :].any(axis=1).mean()) for first in FIRST_LOOKS}


def simulate_delay(effect: float, campaigns: int, blocks: int = BLOCKS) -> str:
    """Return blocks until a difference of ``effect`` SDs is found by two arms: median, and 90 %."""
    generator = np.random.default_rng(1)
    hit = find_separated(effect + generator.standard_normal((campaigns, blocks)), ALPHA)
    hit[:, : FIRST_LOOK - 1] = False
    taken = np.sort(np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, blocks + 1))
    return f"{taken[len(taken) // 2]} ({taken[int(0.9 * len(taken))]})"


def simulate_ends(effect: float, margin: float, campaigns: int, blocks: int = BLOCKS) -> tuple[float, float, float]:
    """How --until ends for two arms that differ by ``effect``, in SDs of the differences as the margin: fractions that
    end as + or - and as =, and mean number of blocks."""
    differences = effect + np.random.default_rng(1).standard_normal((campaigns, blocks))
    n = np.arange(1, blocks + 1)
    mean = np.cumsum(differences, axis=1) / n
    squares = np.maximum(np.cumsum(differences**2, axis=1) - n * mean**2, 0)
    with np.errstate(invalid="ignore"):
        half = np.array([sequential.critical(k, ALPHA) for k in n]) * np.sqrt(squares / np.maximum(n - 1, 1) / n)
    inside = (mean - half >= -margin) & (mean + half <= margin)
    same = inside & (n >= max(least_blocks(DEFAULT_RARE), FIRST_LOOK))
    apart = find_separated(differences, ALPHA) & ~inside & (n >= FIRST_LOOK)
    decided = same | apart
    last = np.where(decided.any(axis=1), decided.argmax(axis=1), blocks - 1)
    each = np.arange(campaigns)
    return float(apart[each, last].mean()), float(same[each, last].mean()), float(last.mean() + 1)


def print_table(title: str, scenarios: dict[str, Draw], campaigns: int) -> None:
    heads = [f"{arms} arms, from {first}" for arms in ARMS for first in FIRST_LOOKS]
    print(f"\n| {title} | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for name, draw in scenarios.items():
        rates = [simulate_false_rates(draw, arms, campaigns) for arms in ARMS]
        cells = [f"{100 * rate[first]:.1f}" for rate in rates for first in FIRST_LOOKS]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"False + or - at any look up to block {BLOCKS}, in %, {campaigns} campaigns a cell:")
    print_table("all arms alike", SCENARIOS, campaigns)
    print_table("one arm skewed, one mean", SKEWED, campaigns)
    print(f"\nHow --until ends by the true change, margin {MARGIN:g} SD of the differences: + or -, =, mean blocks")
    for times in (0, 0.5, 1, 2):
        apart, same, blocks = simulate_ends(times * MARGIN, MARGIN, campaigns)
        print(f"{times:g} margins: {100 * apart:.1f} %, {100 * same:.1f} %, {blocks:.0f}")
    print("\nBlocks until a difference is found, two arms: median (90 %), by its size in SDs of the differences")
    print(
        "  ".join(f"{effect:g}: {simulate_delay(effect, campaigns)}" for effect in (0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3))
    )


if __name__ == "__main__":
    main()
