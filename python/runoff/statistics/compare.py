"""One metric, all arms: from observations to the analysis that reports show."""

from collections.abc import Mapping, Sequence

from runoff.statistics import checks, ratio, tukey
from runoff.statistics.describe import summarise
from runoff.statistics.fit import Fit, anova, one_way
from runoff.statistics.letters import connect
from runoff.statistics.values import (
    Analysis,
    Comparison,
    Interval,
    Observation,
    Pair,
    Question,
    Summary,
    Verdict,
)
from runoff.statistics.verdict import judge


def analyse(arms: Mapping[str, Sequence[Observation]], question: Question) -> Analysis:
    """Describe each arm, test all pairs, and compare each arm with the baseline.

    ``arms`` holds all arms in plan order, those without a valid sample as empty sequences; the
    baseline is one of them. Raises ValueError if it is not.
    """
    if question.baseline not in arms:
        raise ValueError(f"baseline {question.baseline!r} is not one of the arms: {', '.join(arms)}")
    summaries = {
        arm: summarise(arm, [o.value for o in observations], question.alpha)
        for arm, observations in arms.items()
        if observations
    }
    fit = one_way(summaries) if summaries else None
    spread = checks.spread_p(arms, summaries)
    unequal = spread if spread is not None and spread < checks.CHECK_ALPHA else None
    pairs = tukey.pairs(fit, summaries, question, unpooled=unequal is not None) if fit else ()
    relative = _relative(summaries, fit, question)
    comparisons = {arm: _compare(arm, summaries, fit, pairs, question, relative) for arm in arms}
    return Analysis(
        question=question,
        summaries=summaries,
        anova=anova(fit) if fit else None,
        pairs=pairs,
        comparisons=comparisons,
        letters=_letters(summaries, pairs, question),
        relative=relative,
        warnings=checks.warnings(arms, summaries, pairs, comparisons, question, unequal),
    )


def _relative(summaries: Mapping[str, Summary], fit: Fit | None, question: Question) -> bool:
    """Percent needs a true zero, so every value positive, and a baseline clear of it."""
    baseline = summaries.get(question.baseline)
    if baseline is None or any(summary.minimum <= 0 for summary in summaries.values()):
        return False
    if fit is None or len(summaries) < 2:
        return True
    critical = tukey.critical(question.alpha, len(summaries), fit.df)
    return ratio.percent_interval(fit, question.baseline, question.baseline, critical) is not None


def _compare(
    arm: str,
    summaries: Mapping[str, Summary],
    fit: Fit | None,
    pairs: Sequence[Pair],
    question: Question,
    relative: bool,
) -> Comparison:
    if arm not in summaries:
        return Comparison(arm, None, None, None, None, None, Verdict.VOID)
    if arm == question.baseline:
        return Comparison(arm, None, None, None, None, None, None)
    undecided = None if question.direction == "none" else Verdict.UNCLEAR
    if question.baseline not in summaries:
        return Comparison(arm, None, None, None, None, None, undecided)
    baseline = summaries[question.baseline].mean
    difference = summaries[arm].mean - baseline
    percent = 100 * (difference / baseline) if relative else None
    if fit is None:
        return Comparison(arm, difference, None, percent, None, None, undecided)
    pair = next(
        _from_baseline(pair, question.baseline)
        for pair in pairs
        if {pair.first, pair.second} == {arm, question.baseline}
    )
    interval = None
    if relative and pair.interval is not None:
        critical = tukey.critical(question.alpha, len(summaries), fit.df)
        interval = ratio.percent_interval(fit, question.baseline, arm, critical)
    return judge(pair, question, percent, interval)


def _from_baseline(pair: Pair, baseline: str) -> Pair:
    if pair.first == baseline:
        return pair
    mirrored = None if pair.interval is None else Interval(-pair.interval.high, -pair.interval.low)
    return Pair(pair.second, pair.first, -pair.difference, mirrored, pair.p, pair.p_unpooled, pair.separated)


def _letters(summaries: Mapping[str, Summary], pairs: Sequence[Pair], question: Question) -> dict[str, str]:
    """Sorted by mean with the better end first, so that ``a`` is the best group."""
    if not pairs or question.repeats_exactly:
        return {}
    sign = -1 if question.direction == "higher" else 1
    ranked = sorted(summaries, key=lambda arm: sign * summaries[arm].mean)
    return connect(ranked, [(pair.first, pair.second) for pair in pairs if pair.separated])
