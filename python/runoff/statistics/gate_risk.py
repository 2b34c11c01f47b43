"""How often a gate ends in which way, by campaigns that are drawn with the noise that was seen.

Numbers here are logarithms of ratios to the baseline, turned so that worse is above zero.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from runoff.statistics.gate import GRAVEST_LAST, Outcome

DRAWS = 20_000
DRAWS_OVER_MACHINES = 5_000

LEAST_COMMON = 3
"""Blocks that two comparisons must share before they are taken to go together."""

_Numbers = npt.NDArray[np.float64]
_Places = npt.NDArray[np.int_]
"""Indices of `GRAVEST_LAST`."""
_FINE, _UNCLEAR, _WORSE, _REGRESSED = (GRAVEST_LAST.index(each) for each in Outcome)


@dataclass(frozen=True, slots=True)
class Precision:
    """How well one mean change is known."""

    error: float
    """Standard error, above zero."""
    df: float
    """Degrees of freedom of it."""
    critical: float
    """Half of an interval's width in standard errors."""
    critical_joint: float
    """Half of that which holds together with others: all comparisons of the report, or all machines."""


@dataclass(frozen=True, slots=True)
class RiskInput:
    """What the chances of one comparison depend on."""

    limit: float
    overall: Precision
    step: float = 0.0
    """What the digits of the values leave open."""
    machines: tuple[Precision, ...] = ()
    """The mean change on each of several machines, each of which has a line of its own in the gate."""
    between: float = 0.0
    """SD of the true changes between machines."""


@dataclass(frozen=True, slots=True)
class Chances:
    """How often a gate ends in which way."""

    fine: float
    unclear: float
    worse: float
    regressed: float


@dataclass(frozen=True, slots=True)
class Risk:
    """Chances of a gate, if this noise is all there is to know."""

    unchanged: Chances
    """Chances where no arm differs."""
    at_half: Chances
    """Chances where one comparison is worse by half the limit: that with the widest interval, which shows it least."""
    at_limit: Chances
    """Chances where it is worse by just the limit."""
    at_twice: Chances
    """Chances where it is worse by twice the limit."""


def correlation(series: Sequence[Mapping[int, float]]) -> list[list[float]]:
    """Return correlations of comparisons, given by their differences by block, over the blocks that two share."""
    return [[_correlation(one, other) for other in series] for one in series]


def _correlation(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    common = sorted(set(one) & set(other))
    if one is other:
        return 1.0
    if len(common) < LEAST_COMMON:
        return 0.0
    first, second = (np.array([series[block] for block in common]) for series in (one, other))
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / size if size > 0 else 0.0


def estimate_risk(judged: Sequence[RiskInput], correlated: Sequence[Sequence[float]]) -> Risk:
    """Return the risk of a gate over all of ``judged`` (at least one), whose means correlate as ``correlated``.

    Drawn 20,000 times (of several machines 5,000) by a generator of its own: the same each time, with a standard error
    of 0.35 (0.7) points at most.
    """
    draw = np.random.default_rng(1)
    values, vectors = np.linalg.eigh(np.asarray(correlated, dtype=float))
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    # Correlations over different blocks need not fit together: what was cut off is made up for.
    factor /= np.linalg.norm(factor, axis=1, keepdims=True)
    # Of a machine with a single block nobody knows how well its change is known: then the machines are its blocks.
    is_known = all(each.machines for each in judged)
    drawn = (_draw_machines if is_known else _draw)(judged, factor, draw)

    unchanged = np.column_stack([each.find_outcomes(0.0) for each in drawn])
    noisiest = max(range(len(judged)), key=lambda index: _width(judged[index]))

    def chances(by: float) -> Chances:
        places = unchanged.copy()
        places[:, noisiest] = drawn[noisiest].find_outcomes(by)
        gravest = places.max(axis=1)
        return Chances(*(float((gravest == place).mean()) for place in range(len(GRAVEST_LAST))))

    return Risk(*(chances(by) for by in (0.0, 0.5, 1.0, 2.0)))


def _width(each: RiskInput) -> float:
    """Return the width of the intervals, in limits."""
    return each.overall.critical * each.overall.error / each.limit


@dataclass(frozen=True, slots=True)
class _Line:
    """What one line of a gate has in each campaign that is drawn, if nothing has changed."""

    estimate: _Numbers
    low: _Numbers
    high: _Numbers
    low_joint: _Numbers


@dataclass(frozen=True, slots=True)
class _Drawn:
    """One comparison in all campaigns."""

    of: RiskInput
    line: _Line
    machines: tuple[_Line, ...] = ()

    def find_outcomes(self, by: float) -> _Places:
        """Return the outcomes where the change is ``by`` times the limit."""
        places = self._judge(self.line, by)
        for each in self.machines:
            # What is open on one machine is not told.
            own = self._judge(each, by)
            places = np.where(own >= _WORSE, np.maximum(places, own), places)
        return places

    def _judge(self, line: _Line, by: float) -> _Places:
        limit, step, shift = self.of.limit, self.of.step, by * self.of.limit
        is_worse = (line.estimate + shift > limit) & (line.low_joint + shift > 0)
        places = np.where(line.high + shift + step <= limit, _FINE, np.where(is_worse, _WORSE, _UNCLEAR))
        return np.where(line.low + shift - step > limit, _REGRESSED, places)


def _draw(judged: Sequence[RiskInput], factor: _Numbers, draw: np.random.Generator) -> list[_Drawn]:
    means = draw.standard_normal((DRAWS, len(judged))) @ factor.T
    known = [_correct_error(each.overall) for each in judged]
    return [
        _Drawn(each, _lay(means[:, i] * own.error, own, draw))
        for i, (each, own) in enumerate(zip(judged, known, strict=True))
    ]


def _correct_error(known: Precision) -> Precision:
    """Return it with the error that the true one is as often above as below: estimates are too small more often."""
    return replace(known, error=known.error * math.sqrt(known.df / float(special.chdtri(known.df, 0.5))))


def _lay(estimate: _Numbers, known: Precision, draw: np.random.Generator) -> _Line:
    """Return intervals around estimates whose errors are estimated too."""
    error = known.error * np.sqrt(draw.chisquare(known.df, len(estimate)) / known.df)
    half, joint = known.critical * error, known.critical_joint * error
    return _Line(estimate, estimate - half, estimate + half, estimate - joint)


def _draw_machines(judged: Sequence[RiskInput], factor: _Numbers, draw: np.random.Generator) -> list[_Drawn]:
    """Return the same over machines: each has a true change of its own, and an estimate of that."""
    drawn = []
    shape = (DRAWS_OVER_MACHINES, len(judged))
    most = max(len(each.machines) for each in judged)
    true, noise = ([draw.standard_normal(shape) @ factor.T for _ in range(most)] for _ in range(2))
    for i, each in enumerate(judged):
        lines = [
            _lay(each.between * true[j][:, i] + own.error * noise[j][:, i], own, draw)
            for j, own in enumerate(map(_correct_error, each.machines))
        ]
        overall = _span(lines, each.overall) if len(lines) == 2 else _average(lines, each.overall)
        # A machine's own line holds for all machines together.
        drawn.append(_Drawn(each, overall, tuple(replace(line, low=line.low_joint) for line in lines)))
    return drawn


def _span(lines: Sequence[_Line], overall: Precision) -> _Line:
    """Return what two machines say together: the hull of their intervals."""
    one, other = lines
    wider = overall.critical_joint / overall.critical
    return _Line(
        (one.estimate + other.estimate) / 2,
        np.minimum(one.low, other.low),
        np.maximum(one.high, other.high),
        np.minimum(*(each.estimate - wider * (each.estimate - each.low) for each in lines)),
    )


def _average(lines: Sequence[_Line], overall: Precision) -> _Line:
    """Return what more machines say together: Student's t over them."""
    estimates = np.column_stack([each.estimate for each in lines])
    estimate = estimates.mean(axis=1)
    error = estimates.std(axis=1, ddof=1) / math.sqrt(len(lines))
    half, joint = overall.critical * error, overall.critical_joint * error
    return _Line(estimate, estimate - half, estimate + half, estimate - joint)
