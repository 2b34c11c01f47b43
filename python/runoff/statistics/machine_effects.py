"""What one machine says of an arm: its mean change and how well that is known, from blocks or from single runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runoff.statistics.blocks import Differences, differences, ratios_make_sense
from runoff.statistics.compare import analyse
from runoff.statistics.digits import find_step
from runoff.statistics.heterogeneity import Moments
from runoff.statistics.unpaired import analyse_unpaired, compare_means
from runoff.statistics.values import Analysis, Observation, Question

Observations = Mapping[str, Sequence[Observation]]
"""By arm, in plan order."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The mean change of an arm on one machine."""

    n: int
    """Blocks, or runs of the arm that has fewer."""
    logs: bool
    mean: float
    mean_in_units: float
    ratio_of_means: float | None
    """Ratio of the arithmetic means, for logs only."""
    step: float | None
    """As of `Differences`."""
    confounded: bool
    moments: Moments | None
    """How well the mean is known; None where one block or run cannot tell."""


@dataclass(frozen=True, slots=True)
class Method:
    """How one machine is judged by itself."""

    analyse: Callable[[Observations, Question], Analysis]
    find_effect: Callable[[Sequence[Observation], Sequence[Observation]], Effect | None]
    """Takes the baseline's observations and the arm's; None without any of both."""


def _find_in_blocks(baseline: Sequence[Observation], arm: Sequence[Observation]) -> Effect | None:
    found = differences(baseline, arm)
    if found is None:
        return None
    return Effect(
        n=found.n,
        logs=found.logs,
        mean=found.mean,
        mean_in_units=found.mean_in_units,
        ratio_of_means=found.ratio_of_means,
        step=found.step,
        confounded=found.confounded,
        moments=_describe_blocks(found),
    )


def _describe_blocks(found: Differences) -> Moments | None:
    return Moments.from_values(np.array(found.values)) if found.n > 1 else None


def _find_in_runs(baseline: Sequence[Observation], arm: Sequence[Observation]) -> Effect | None:
    if not baseline or not arm:
        return None
    base, other = (np.array([each.value for each in observed]) for observed in (baseline, arm))
    logs = ratios_make_sense(base.tolist(), other.tolist())
    one, two = (np.log(base), np.log(other)) if logs else (base, other)
    n = min(len(base), len(other))
    moments = None
    if n > 1:
        found = compare_means(one, two, 1.0 if logs else float(max(np.abs(base).max(), np.abs(other).max())))
        # As many values as Welch's interval has degrees of freedom, and one, with a mean that is known as well.
        values = found.df + 1 if math.isfinite(found.df) else float(len(base) + len(other) - 1)
        moments = Moments(values, found.difference, found.error**2 * values)
    return Effect(
        n=n,
        logs=logs,
        mean=moments.mean if moments else float(np.mean(two) - np.mean(one)),
        mean_in_units=float(np.mean(other) - np.mean(base)),
        ratio_of_means=float(np.mean(other / np.mean(base))) if logs else None,
        step=find_step(np.concatenate([base, other]), logs=logs),
        confounded=False,
        moments=moments,
    )


IN_BLOCKS = Method(analyse, _find_in_blocks)
IN_RUNS = Method(analyse_unpaired, _find_in_runs)
