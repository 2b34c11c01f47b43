"""Tables of samples that were drawn, for `verdict_errors.py`: shape (tables, blocks, arms), void ones are NaN.

The true mean of all arms is 100 unless a scenario says otherwise. Arms stand in the order that
`runoff.plan.order` draws.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

Array = npt.NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Tables:
    """Values, and the place of each in its table's run order."""

    values: Array
    positions: Array


@dataclass(frozen=True, slots=True)
class Shape:
    """How many tables, blocks and arms."""

    tables: int
    blocks: int
    arms: int

    @property
    def size(self) -> tuple[int, int, int]:
        return self.tables, self.blocks, self.arms


def order(rng: Rng, shape: Shape) -> Array:
    """Places in the run order: each block all arms, in random order or the other way round than in the one before."""
    within = np.argsort(rng.random(shape.size), axis=2)
    back = slice(1, None, 2)
    within[:, back] = shape.arms - 1 - within[:, : shape.blocks // 2 * 2 : 2]
    return within + shape.arms * np.arange(shape.blocks)[None, :, None].astype(float)


def normal(sd: float) -> Callable[[Rng, Shape, Array], Array]:
    """Normal noise."""
    return lambda rng, shape, _: 100 * (1 + sd * rng.standard_normal(shape.size))


def _lognormal(sigma: float) -> Callable[[Rng, Shape, Array], Array]:
    return lambda rng, shape, _: 100 * np.exp(sigma * rng.standard_normal(shape.size))


def _two_values(low: float, high: float, share: float, noise: float) -> Callable[[Rng, Shape, Array], Array]:
    def draw(rng: Rng, shape: Shape, _: Array) -> Array:
        level = np.where(rng.random(shape.size) < share, high, low)
        return level * (1 + noise * rng.standard_normal(shape.size))

    return draw


def _student(rng: Rng, shape: Shape, _: Array) -> Array:
    return 100 * np.exp(0.02 * rng.standard_t(2, shape.size))


def _discrete(rng: Rng, shape: Shape, _: Array) -> Array:
    return np.maximum(1.0, np.rint(10 + 0.6 * rng.standard_normal(shape.size)))


def _ties(rng: Rng, shape: Shape, _: Array) -> Array:
    return np.where(rng.random(shape.size) < 0.9, 100.0, 100 + rng.integers(-5, 6, shape.size))


def _autoregressive(rho: float) -> Callable[[Rng, Shape, Array], Array]:
    """Memory along the run order, SD 5 %."""

    def draw(rng: Rng, shape: Shape, positions: Array) -> Array:
        steps = rng.standard_normal((shape.tables, shape.blocks * shape.arms))
        state = np.empty_like(steps)
        state[:, 0] = steps[:, 0]
        for i in range(1, steps.shape[1]):
            state[:, i] = rho * state[:, i - 1] + np.sqrt(1 - rho**2) * steps[:, i]
        places = positions.reshape(shape.tables, -1).astype(int)
        return 100 * (1 + 0.05 * np.take_along_axis(state, places, axis=1).reshape(shape.size))

    return draw


def _drift(noise: float, share: float = 0.3) -> Callable[[Rng, Shape, Array], Array]:
    """Return values that drift: the last sample takes ``share`` longer than the first."""

    def draw(rng: Rng, shape: Shape, positions: Array) -> Array:
        along = positions / (shape.blocks * shape.arms)
        return 100 * (1 + share * along) * (1 + noise * rng.standard_normal(shape.size))

    return draw


def _sawtooth(noise: float, share: float) -> Callable[[Rng, Shape, Array], Array]:
    """Return values that drift within each block: its last sample takes ``share`` longer than its first."""

    def draw(rng: Rng, shape: Shape, positions: Array) -> Array:
        within = (positions % shape.arms) / (shape.arms - 1)
        return 100 * (1 + share * within) * (1 + noise * rng.standard_normal(shape.size))

    return draw


def blocks(block_sd: float, noise: float) -> Callable[[Rng, Shape, Array], Array]:
    """Return values with a level for each block."""

    def draw(rng: Rng, shape: Shape, _: Array) -> Array:
        level = np.exp(block_sd * rng.standard_normal((shape.tables, shape.blocks, 1)))
        return 100 * level * (1 + noise * rng.standard_normal(shape.size))

    return draw


def spread(*factors: float, noise: float = 0.005) -> Callable[[Rng, Shape, Array], Array]:
    """SD of each arm as a multiple of ``noise``; the last factor is that of all further arms."""

    def draw(rng: Rng, shape: Shape, _: Array) -> Array:
        each = np.array([factors[min(arm, len(factors) - 1)] for arm in range(shape.arms)])
        return 100 * (1 + noise * each * rng.standard_normal(shape.size))

    return draw


def _graded(rng: Rng, shape: Shape, _: Array) -> Array:
    return 100 * (1 + 0.005 * np.geomspace(1, 10, shape.arms) * rng.standard_normal(shape.size))


def _louder(rng: Rng, shape: Shape, _: Array) -> Array:
    """Noise grows tenfold along the campaign."""
    return 100 * (1 + 0.005 * np.geomspace(1, 10, shape.blocks)[None, :, None] * rng.standard_normal(shape.size))


def _skewed(rng: Rng, shape: Shape, _: Array) -> Array:
    """Return values with a long tail in the baseline (exponential), normal in others; equal geometric means."""
    logs = 0.03 * rng.standard_normal(shape.size)
    logs[:, :, 0] = 0.1 * (rng.exponential(size=shape.size[:2]) - 1)
    return 100 * np.exp(logs)


def modes(size: float, share: float) -> Callable[[Rng, Shape, Array], Array]:
    """The last arm takes ``size`` longer in logarithms in a ``share`` of its runs, and is faster in all others, so that
    its geometric mean is that of the others; noise 2 %."""

    def draw(rng: Rng, shape: Shape, _: Array) -> Array:
        logs = 0.02 * rng.standard_normal(shape.size)
        logs[:, :, -1] += size * ((rng.random(shape.size[:2]) < share) - share)
        return 100 * np.exp(logs)

    return draw


def _pareto(rng: Rng, shape: Shape, _: Array) -> Array:
    """The last arm's logarithms have a tail of Pareto's with exponent 1.5 and the mean of the others'; noise 2 %."""
    logs = 0.02 * rng.standard_normal(shape.size)
    logs[:, :, -1] += 0.02 * (rng.pareto(1.5, shape.size[:2]) - 2)
    return 100 * np.exp(logs)


def _chosen(share: float) -> Callable[[Rng, Shape, Array], Array]:
    """Return the last arm loses its slowest runs: those in this ``share`` of its distribution; noise 5 %."""

    def draw(rng: Rng, shape: Shape, _: Array) -> Array:
        logs = rng.standard_normal(shape.size)
        mine = logs[:, :, -1]
        lost = mine > ndtri(1 - share)
        # Three are left at least, so that there is a table to judge.
        lost &= np.argsort(np.argsort(mine, axis=1), axis=1) >= 3
        values: Array = 100 * np.exp(0.05 * logs)
        values[:, :, -1][lost] = np.nan
        return values

    return draw


def _own_memory(rng: Rng, shape: Shape, _: Array) -> Array:
    """Return values whose arms each correlate from block to block: rho 0.5, SD 5 %."""
    state = rng.standard_normal(shape.size)
    for block in range(1, shape.blocks):
        state[:, block] = 0.5 * state[:, block - 1] + np.sqrt(0.75) * state[:, block]
    return 100 * (1 + 0.05 * state)


def _voids(draw: Callable[[Rng, Shape, Array], Array], share: float) -> Callable[[Rng, Shape, Array], Array]:
    """Return values with a ``share`` of void samples in the last arm; at least three are left."""

    def drawn(rng: Rng, shape: Shape, positions: Array) -> Array:
        values = draw(rng, shape, positions)
        rank = np.argsort(np.argsort(rng.random(shape.size[:2]), axis=1), axis=1)
        lost = min(round(share * shape.blocks), shape.blocks - 3)
        values[:, :, -1][rank < lost] = np.nan
        return values

    return drawn


USUAL: Mapping[str, Callable[[Rng, Shape, Array], Array]] = {
    "normal, SD 5 %": normal(0.05),
    "lognormal, sigma 0.5": _lognormal(0.5),
    "lognormal, sigma 1": _lognormal(1.0),
    "two modes, 90 and 110": _two_values(90, 110, 0.5, 0.01),
    "rare mode, 10 % at +30 %": _two_values(100, 130, 0.1, 0.01),
    "outliers, 5 % times 1.5": _two_values(100, 150, 0.05, 0.02),
    "outliers, 5 % times 5": _two_values(100, 500, 0.05, 0.02),
    "t with 2 df": _student,
    "integers, 10 -+ 0.6": _discrete,
    "90 % of values equal": _ties,
    "AR(1) 0.95 in run order": _autoregressive(0.95),
    "linear drift 30 %": _drift(0.01),
    "blocks 10 %, noise 2 %": blocks(0.1, 0.02),
    "baseline 10 times noisier": spread(10, 1),
    "one arm 10 times noisier": spread(1, 10, 1),
    "spread from 1 to 10": _graded,
    "voids 60 %, same SD": _voids(normal(0.02), 0.6),
    "baseline 10 times quieter": spread(0.1, 1),
    "noise grows tenfold in time": _louder,
    "drift 30 %, noise 0.1 %": _drift(0.001),
    "drift 30 % and 40 % voids": _voids(_drift(0.01), 0.4),
    "drift within blocks, 3 %": _sawtooth(0.01, 0.03),
    "the same and 40 % voids": _voids(_sawtooth(0.01, 0.03), 0.4),
}
"""Without a difference between the arms."""

BEYOND: Mapping[str, Callable[[Rng, Shape, Array], Array]] = {
    "skewed baseline": _skewed,
    "one arm slow by e^0.5 in 10 % of runs": modes(0.5, 0.1),
    "one arm slow by e^0.5 in 30 % of runs": modes(0.5, 0.3),
    "one arm with a tail, Pareto 1.5": _pareto,
    "one arm loses its slowest 7 %": _chosen(0.07),
    "one arm loses its slowest 16 %": _chosen(0.16),
    "AR(1) 0.6 in run order": _autoregressive(0.6),
    "arms with memory, rho 0.5": _own_memory,
    "drift within blocks dominates, 40 % voids": _voids(_sawtooth(0.001, 0.3), 0.4),
}
"""Scenarios in which the rule errs more often than it says."""


def draw_unsteady(factor: float, lost: float) -> Callable[[Rng, Shape, Array], Array]:
    """Return values whose last arm is ``factor`` times noisier (others 1 %) and loses a share of its samples."""

    def draw(rng: Rng, shape: Shape, positions: Array) -> Array:
        values = 100 * (1 + 0.01 * rng.standard_normal(shape.size))
        values[:, :, -1] = 100 + factor * (values[:, :, -1] - 100)
        return values

    return _voids(draw, lost)
