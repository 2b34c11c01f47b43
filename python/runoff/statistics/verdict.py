"""From block differences to an interval, and from that to a verdict."""

import math
from dataclasses import replace

import numpy as np

from runoff.results import FIRST_LOOK, Direction
from runoff.statistics import further, planning, power, sequential, signs
from runoff.statistics.blocks import Differences
from runoff.statistics.effect import standardise
from runoff.statistics.level import adjust, critical, level_for_each, sign_flip, two_sided_p
from runoff.statistics.stopping import find_multiple, spend
from runoff.statistics.values import OPEN, Advice, Beyond, Comparison, Interval, Question, Verdict, to_percent


def compare(arm: str, found: Differences, question: Question, comparisons: int, least_sd: float = 0.0) -> Comparison:
    """Compare one arm, one of ``comparisons`` of a table, whose differences are taken to have ``least_sd`` at least."""
    effect = standardise(found)
    if found.sd is not None:
        found = replace(found, sd=max(found.sd, least_sd))
    p, interval = _test(found, question, comparisons)
    comparison = Comparison(
        arm=arm,
        n=found.n,
        difference=found.mean_in_units,
        interval=None if found.logs else interval,
        log_mean=found.mean if found.logs else None,
        log_interval=interval if found.logs else None,
        sd=found.sd,
        error=None if found.sd is None else found.sd / math.sqrt(found.informative),
        df=None if found.sd is None else found.informative - 1,
        p=p,
        separated=interval is not None and (interval.low > 0 or interval.high < 0),
        step=found.step,
        coarse=is_coarse(found.step, question, logs=found.logs),
        beyond=_find_beyond(found, interval, question, comparisons),
        unseen=power.unseen_share(found.n),
        effect=effect,
        detectable=_find_detectable(found, question, comparisons),
        correlation=found.correlation,
        dependent=found.is_dependent,
        runs_per_one=found.n / found.informative,
        is_sequential=question.is_sequential,
        confounded=found.confounded,
    )
    return judge(comparison, question, comparisons)


def _find_detectable(found: Differences, question: Question, comparisons: int) -> float | None:
    """Return the smallest change that shows among all tables; None where signs that are too coarse decide that."""
    if not found.sd or question.is_sequential:
        return None
    joint, n = comparisons * question.tables, found.informative
    if _asks_signs(found, comparisons) and not signs.is_fine(found.n, level_for_each(question.alpha, joint)):
        return None
    multiple = critical(question.alpha, joint, n - 1)
    size = power.detectable_difference(n - 1, multiple) * found.sd / math.sqrt(n)
    return to_percent(size) if found.logs else size


def _asks_signs(found: Differences, comparisons: int) -> bool:
    """Return whether the signs have to agree: where one comparison has nothing to spare."""
    return comparisons == 1 and signs.FEWEST <= found.n <= signs.MOST


def judge(comparison: Comparison, question: Question, comparisons: int) -> Comparison:
    """Return ``comparison`` with its verdict, and with advice if the verdict is unclear."""
    verdict = _verdict(comparison, question)
    advice = _advise(comparison, question, comparisons) if verdict in OPEN else None
    return replace(comparison, verdict=verdict, advice=advice)


def _advise(comparison: Comparison, question: Question, comparisons: int) -> Advice | None:
    """Return how many blocks decide; None where that is not known, or any number may be taken."""
    if question.repeats_exactly or comparison.between is not None or comparison.sd is None:
        return None
    goes_on = question.taken is not None
    if comparison.is_sequential and not (goes_on and question.stopping == further.RESUMED):
        return None
    mean = comparison.difference or 0.0 if comparison.log_mean is None else comparison.log_mean
    if comparison.coarse and not mean:
        return None
    advise = further.advise if goes_on else planning.advise
    # Blocks to come resemble each other as those that were seen.
    sd = comparison.sd * math.sqrt(comparison.runs_per_one)
    return advise(comparison.n, mean, sd, margin_of(comparison, question), comparisons, question)


def margin_of(comparison: Comparison, question: Question) -> float | None:
    """What the digits of the values leave of the margin, as a logarithm; None where only identical values, or none,
    are the same."""
    if comparison.log_mean is None or comparison.coarse:
        return None
    return math.log1p(question.margin) - (comparison.step or 0.0)


def is_coarse(step: float | None, question: Question, *, logs: bool) -> bool:
    """Return whether values that come in steps of ``step`` are too coarse for the margin."""
    return step is None or (logs and step >= math.log1p(question.margin))


def _test(found: Differences, question: Question, comparisons: int) -> tuple[float | None, Interval | None]:
    """Return p and interval by Student's t; if differences do not vary, p by the signs alone.

    Sidak's level leaves several arms something to spare, as they share the baseline. A single one has nothing, and t
    is too bold for ten or so differences in a few clusters: there the signs have to agree.

    Copies of one deterministic run are not exchangeable samples, and what drift may have made has no interval that
    could be right, so for them nothing is tested.
    """
    if found.sd is None or found.confounded or question.repeats_exactly:
        return None, None
    if found.sd == 0:
        flip = sequential.sign_flip if question.is_sequential else sign_flip
        p = spend(adjust(flip(found.n), comparisons), question.stopping) if found.mean else 1.0
        known = p <= question.alpha or not found.mean
        return p, Interval(found.mean, found.mean) if known else None
    n = found.informative
    error = found.sd / math.sqrt(n)
    half, t = _critical_multiple(question, comparisons, n) * error, found.mean / error
    interval = Interval(found.mean - half, found.mean + half)
    if question.is_sequential:
        p = spend(adjust(sequential.two_sided_p(t, n), comparisons), question.stopping)
        return p, interval if math.isfinite(half) else None
    p = two_sided_p(t, n - 1)
    if _asks_signs(found, comparisons):
        values = np.asarray(found.values)
        p, also = max(p, signs.p(values) / signs.LENIENCY), signs.interval(values, signs.LENIENCY * question.alpha)
        interval = Interval(min(interval.low, also.low), max(interval.high, also.high))
    return adjust(p, comparisons), interval


def _critical_multiple(question: Question, comparisons: int, n: float) -> float:
    """Return the multiple of the standard error beyond which a difference of ``n`` blocks is separated."""
    return find_multiple(n, question.alpha, comparisons, question.stopping)


def _find_beyond(found: Differences, interval: Interval | None, question: Question, comparisons: int) -> Beyond:
    """Return what of the difference may be beyond the margin."""
    if found.sd is None or interval is None:
        return "interval"
    if not found.logs:
        return "nothing" if found.mean == 0 and found.sd == 0 and found.step is not None else "interval"
    n = found.informative
    half = _critical_multiple(question, comparisons, n) * (found.ratio_sd or 0.0) / math.sqrt(n)
    change = (found.ratio_of_means or 1.0) - 1
    return find_beyond(interval, change, half, found.step, question.margin)


def find_beyond(logs: Interval, change: float, half: float, step: float | None, margin: float) -> Beyond:
    """Return what may be beyond the margin: of the interval of the geometric mean's logarithm, of that with the
    ``step`` of the values on both sides, and of ``change`` +- ``half`` and a step, the arithmetic mean.

    The means part where a few runs are far slower than the rest, and what those cost is in the arithmetic one.
    """
    low, high = math.log1p(-margin), math.log1p(margin)
    if not logs.is_inside(low, high):
        return "interval"
    if step is None or not logs.is_inside(low + step, high - step):
        return "step"
    return "nothing" if abs(change) + half + step <= margin + 1e-14 else "mean"


def _verdict(comparison: Comparison, question: Question) -> Verdict | None:
    """Return the verdict; ``=`` goes first, as a real difference within the margin is too small to matter."""
    if question.direction == "none":
        return None
    if question.repeats_exactly or (comparison.is_sequential and comparison.n < FIRST_LOOK):
        return Verdict.UNCLEAR
    between = comparison.between
    if between is not None and (between.is_opposite or (comparison.is_within and between.has_sides)):
        return Verdict.MIXED
    if comparison.is_within:
        enough = comparison.n >= power.least_blocks(question.rare)
        return Verdict.SAME if enough else Verdict.SMALL
    stands = comparison.p_report is None or comparison.p_report <= question.alpha
    if not comparison.separated or not stands:
        return Verdict.UNCLEAR
    size = comparison.difference or 0.0 if comparison.log_mean is None else comparison.log_mean
    return _judge_direction(size, question.direction)


def _judge_direction(difference: float, direction: Direction) -> Verdict:
    return Verdict.BETTER if (difference < 0) == (direction == "lower") else Verdict.WORSE
