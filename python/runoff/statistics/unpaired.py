"""Arms whose runs are in no blocks: each with its own spread (Welch 1947), at Sidak's level over the arms of a table.

Where few runs stand against many, a difference also has to be rare among runs that are dealt anew; where runs resemble
the run before, they count as fewer.

Where all values of an arm and of the baseline are positive, logarithms are compared, as they are within blocks.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from runoff.results import StoppingRule
from runoff.statistics import checks, power, stopping
from runoff.statistics.blocks import find_moments, ratios_make_sense
from runoff.statistics.dependence import Dependence, find_dependence
from runoff.statistics.describe import ROUNDING, is_constant, summarise_arms
from runoff.statistics.digits import find_step
from runoff.statistics.level import adjust, critical, level_for_each, two_sided_p
from runoff.statistics.permutation import Dealt, deal, needs_deals
from runoff.statistics.values import Analysis, Beyond, Comparison, Interval, Observation, Question, Verdict, to_percent
from runoff.statistics.verdict import find_beyond, is_coarse, judge


@dataclass(frozen=True, slots=True)
class Welch:
    """A difference of two means, ``other - base``."""

    difference: float
    error: float
    """Standard error; 0 where neither side varies."""
    errors: tuple[float, float]
    """Standard errors of the two means."""
    df: float
    """Satterthwaite's degrees of freedom; infinite where neither side varies."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """How one of ``comparisons`` differences is held against its error."""

    alpha: float
    comparisons: int
    counts: tuple[int, int]
    """Runs of the baseline and of the arm."""
    rules: tuple[StoppingRule, StoppingRule]
    """How these numbers came about."""
    runs_per_one: float = 1.0
    """How many runs say as much as one that does not resemble the run before."""
    dealt: Dealt | None = None
    """What else the difference is held against; None where Welch's t is right."""

    def find_half(self, found: Welch) -> float:
        """Return half of the interval of a difference."""
        if self.is_sequential:
            half = stopping.find_half(self._list_means(found), level_for_each(self.alpha, self.comparisons))
            return half * math.sqrt(self.runs_per_one)
        return self._find_multiple(found, self.comparisons) * found.error if found.error else 0.0

    def find_detectable(self, found: Welch, tables: int) -> float:
        """Return the smallest difference that shows among all tables, as independent runs as there are would have."""
        error = found.error * math.sqrt(self.runs_per_one)
        multiple = self._find_multiple(found, self.comparisons * tables) / math.sqrt(self.runs_per_one)
        return power.detectable_difference(self.find_df(found), multiple) * error

    def _find_multiple(self, found: Welch, comparisons: int) -> float:
        """Return the multiple of the error beyond which one of several differences is separated."""
        multiple = critical(self.alpha, comparisons, self.find_df(found)) * math.sqrt(self.runs_per_one)
        if self.dealt is None:
            return multiple
        return max(multiple, self.dealt.find_critical(level_for_each(self.alpha, comparisons)))

    def find_p(self, found: Welch) -> float:
        """Return p of a difference with an error."""
        t = found.difference / found.error
        if self.is_sequential:
            difference = found.difference / math.sqrt(self.runs_per_one)
            return adjust(stopping.find_p(self._list_means(found), difference), self.comparisons)
        p = two_sided_p(t / math.sqrt(self.runs_per_one), self.find_df(found))
        if self.dealt is not None:
            p = max(p, self.dealt.find_p(t))
        return adjust(p, self.comparisons)

    def find_df(self, found: Welch) -> float:
        """Return the degrees of freedom that are left of Satterthwaite's; infinite where nothing varies."""
        return max(1.0, found.df / self.runs_per_one)

    @property
    def is_sequential(self) -> bool:
        """Whether somebody looked before there were as many as there are."""
        return set(self.rules) != {"planned"}

    def _list_means(self, found: Welch) -> list[stopping.Mean]:
        each = zip(self.counts, found.errors, self.rules, strict=True)
        return [stopping.Mean(n, error, rule) for n, error, rule in each]


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
        return Welch(0.0 if same else mean - base_mean, 0.0, (0.0, 0.0), math.inf)
    parts = [((each or 0.0) / largest) ** 2 / len(values) for each, values in ((base_sd, base), (sd, other))]
    df = sum(parts) ** 2 / sum(p**2 / (len(values) - 1) for p, values in zip(parts, (base, other), strict=True))
    first, second = (largest * math.sqrt(part) for part in parts)
    return Welch(mean - base_mean, largest * math.sqrt(sum(parts)), (first, second), df)


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
    dependence = find_dependence([one, two])
    rule = _find_rule(arm, one, two, question, comparisons, dependence)
    p, interval = _test(found, rule)
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
        error=None if found is None else found.error * math.sqrt(rule.runs_per_one),
        df=None if found is None else rule.find_df(found),
        p=p,
        separated=interval is not None and (interval.low > 0 or interval.high < 0),
        step=step,
        coarse=coarse,
        beyond=_find_beyond(base, other, interval, step, rule, question.margin, logs=logs),
        unseen=power.unseen_share(n),
        effect=_standardise(difference, sd, n),
        detectable=None if rule.is_sequential else _find_detectable(found, rule, question.tables, logs=logs),
        correlation=dependence.correlation,
        is_sequential=rule.is_sequential,
        dependent=dependence.is_certain,
        runs_per_one=rule.runs_per_one,
    )
    return judge(compared, question, comparisons)


def _find_rule(
    arm: str,
    base: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    question: Question,
    comparisons: int,
    dependence: Dependence,
) -> _Rule:
    rules = question.select(question.baseline).stopping, question.select(arm).stopping
    rule = _Rule(question.alpha, comparisons, (len(base), len(other)), rules, dependence.runs_per_one)
    if rule.is_sequential or min(rule.counts) < 2 or not needs_deals(*rule.counts):
        return rule
    return replace(rule, dealt=deal(base, other))


def _test(found: Welch | None, rule: _Rule) -> tuple[float | None, Interval | None]:
    """Return p and interval; if neither arm varies, p by how rarely dealt labels sort as well."""
    if found is None:
        return None, None
    if found.error == 0:
        p = adjust(2 / math.comb(sum(rule.counts), rule.counts[0]), rule.comparisons) if found.difference else 1.0
        known = p <= rule.alpha or not found.difference
        return p, Interval(found.difference, found.difference) if known else None
    half = rule.find_half(found)
    interval = Interval(found.difference - half, found.difference + half)
    return rule.find_p(found), interval if math.isfinite(half) else None


def _find_beyond(
    base: npt.NDArray[np.float64],
    other: npt.NDArray[np.float64],
    interval: Interval | None,
    step: float | None,
    rule: _Rule,
    margin: float,
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
    return find_beyond(interval, ratio - 1, rule.find_half(found), step, margin)


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


def _find_detectable(found: Welch | None, rule: _Rule, tables: int, *, logs: bool) -> float | None:
    """Return the smallest change that shows among all tables; None where none would."""
    if found is None or not found.error:
        return None
    size = rule.find_detectable(found, tables)
    if not math.isfinite(size):
        return None
    return to_percent(size) if logs else size
