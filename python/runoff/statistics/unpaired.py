"""Arms whose runs are in no blocks: each with its own spread (Welch 1947), at Sidak's level over the arms of a table.

Where all values of an arm and of the baseline are positive, logarithms are compared, as they are within blocks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runoff.statistics import checks, power
from runoff.statistics.blocks import find_moments, find_step, ratios_make_sense
from runoff.statistics.describe import ROUNDING, is_constant, summarise_arms
from runoff.statistics.level import adjust, critical, two_sided_p
from runoff.statistics.values import Analysis, Beyond, Comparison, Interval, Observation, Question, Verdict, to_percent
from runoff.statistics.verdict import find_beyond, is_coarse, judge


@dataclass(frozen=True, slots=True)
class Welch:
    """A difference of two means, ``other - base``."""

    difference: float
    error: float
    """Standard error; 0 where neither side varies."""
    df: float
    """Satterthwaite's degrees of freedom; infinite where neither side varies."""


def analyse_unpaired(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Describe each arm, and compare each with the baseline.

    ``arms`` holds all arms in plan order, those without a run as empty sequences; the baseline is one of them. Raises
    ValueError otherwise.
    """
    summaries = summarise_arms(arms, question)
    comparisons = {arm: _compare(arm, arms, question) for arm in arms}
    return Analysis(question, summaries, comparisons, checks.find_warnings(arms, summaries, comparisons, question))


def compare_means(base: npt.NDArray[np.float64], other: npt.NDArray[np.float64], scale: float) -> Welch:
    """Return the difference of the means of two samples of at least two values each.

    Values up to ``scale`` that agree to rounding are equal.
    """
    (base_mean, base_sd), (mean, sd) = find_moments(base, scale), find_moments(other, scale)
    largest = max(base_sd or 0.0, sd or 0.0)
    if largest == 0.0:
        same = is_constant([base_mean, mean]) or abs(mean - base_mean) <= ROUNDING * scale
        return Welch(0.0 if same else mean - base_mean, 0.0, math.inf)
    parts = [((each or 0.0) / largest) ** 2 / len(values) for each, values in ((base_sd, base), (sd, other))]
    df = sum(parts) ** 2 / sum(p**2 / (len(values) - 1) for p, values in zip(parts, (base, other), strict=True))
    return Welch(mean - base_mean, largest * math.sqrt(sum(parts)), df)


def _compare(arm: str, arms: Mapping[str, Sequence[Observation]], question: Question) -> Comparison:
    if not arms[arm]:
        return Comparison(arm, verdict=Verdict.VOID)
    if arm == question.baseline:
        return Comparison(arm)
    if not arms[question.baseline]:
        return Comparison(arm, verdict=None if question.direction == "none" else Verdict.UNCLEAR)
    base, other = (np.array([o.value for o in arms[name]]) for name in (question.baseline, arm))
    logs = ratios_make_sense(base.tolist(), other.tolist())
    step = find_step(np.concatenate([base, other]), logs=logs)
    n = min(len(base), len(other))
    one, two = (np.log(base), np.log(other)) if logs else (base, other)
    scale = 1.0 if logs else float(max(np.abs(base).max(), np.abs(other).max()))
    comparisons = len(arms) - 1
    found = compare_means(one, two, scale) if n > 1 else None
    p, interval = _test(found, (len(base), len(other)), question, comparisons)
    difference = found.difference if found is not None else float(np.mean(two) - np.mean(one))
    sd = _join_spreads(one, two, scale) if n > 1 else None
    coarse = is_coarse(step, question, logs=logs)
    compared = Comparison(
        arm=arm,
        n=n,
        difference=float(np.mean(other) - np.mean(base)) if logs else difference,
        interval=None if logs else interval,
        log_mean=difference if logs else None,
        log_interval=interval if logs else None,
        sd=sd,
        p=p,
        separated=interval is not None and (interval.low > 0 or interval.high < 0),
        step=step,
        coarse=coarse,
        beyond=_find_beyond(base, other, interval, step, question, comparisons, logs=logs),
        unseen=power.unseen_share(n),
        effect=_standardise(difference, sd, n),
        detectable=_find_detectable(sd, n, comparisons, question, logs=logs),
    )
    return judge(compared, question, comparisons)


def _test(
    found: Welch | None, counts: tuple[int, int], question: Question, comparisons: int
) -> tuple[float | None, Interval | None]:
    """Return p and interval by Student's t; if neither arm varies, p by how rarely dealt labels sort as well."""
    if found is None:
        return None, None
    if found.error == 0:
        p = adjust(2 / math.comb(sum(counts), counts[0]), comparisons) if found.difference else 1.0
        known = p <= question.alpha or not found.difference
        return p, Interval(found.difference, found.difference) if known else None
    half = critical(question.alpha, comparisons, found.df) * found.error
    interval = Interval(found.difference - half, found.difference + half)
    return adjust(two_sided_p(found.difference / found.error, found.df), comparisons), interval


def _find_beyond(
    base: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    interval: Interval | None,
    step: float | None,
    question: Question,
    comparisons: int,
    *,
    logs: bool,
) -> Beyond:
    """Return what of the difference may be beyond the margin."""
    if interval is None:
        return "interval"
    if not logs:
        return "nothing" if interval.low == interval.high == 0 and step is not None else "interval"
    # The ratio of the means by its first derivatives: the baseline counts as often as it is large.
    scale = float(np.mean(base))
    ratio = float(np.mean(other)) / scale
    found = compare_means(base / scale * ratio, other / scale, 1.0)
    half = critical(question.alpha, comparisons, found.df) * found.error if found.error else 0.0
    return find_beyond(interval, ratio - 1, half, step, question.margin)


def _join_spreads(base: npt.NDArray[np.float64], other: npt.NDArray[np.float64], scale: float) -> float:
    """Return the SD of the difference of one run of each."""
    return math.hypot(*(find_moments(values, scale)[1] or 0.0 for values in (base, other)))


def _standardise(difference: float, sd: float | None, n: int) -> float | None:
    """Return the difference in SDs of one run, Hedges' correction by the degrees of freedom that are there at least."""
    if difference == 0 or sd is None:
        return None
    if sd == 0:
        return math.copysign(math.inf, difference)
    return None if n < 3 else (1 - 3 / (4 * (n - 1) - 1)) * math.sqrt(2) * difference / sd


def _find_detectable(sd: float | None, n: int, comparisons: int, question: Question, *, logs: bool) -> float | None:
    if not sd:
        return None
    size = power.detectable_difference(n, comparisons, question.alpha) * sd
    return to_percent(size) if logs else size
