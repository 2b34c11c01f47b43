"""One metric as the historic reports analysed it: one-way analysis of variance, Tukey-Kramer, letters.

It knows no blocks and all arms share one SD, so it describes and does not judge: with unequal spread its error
is several times what it says.
"""

import math
from collections.abc import Mapping, Sequence

from scipy import special

from runoff.statistics import tukey
from runoff.statistics.fit import Fit, anova, fit_one_way
from runoff.statistics.letters import connect
from runoff.statistics.values import Classic, Interval, Pair, Question, Summary


def analyse(summaries: Mapping[str, Summary], question: Question) -> Classic:
    """Return all pairs of the arms that have ``summaries``."""
    fit = fit_one_way(summaries) if summaries else None
    if fit is None:
        return Classic(None, {}, (), {})
    pairs = tukey.compare_pairs(fit, summaries, question)
    return Classic(anova(fit), _intervals(fit, question), pairs, _letters(summaries, pairs, question))


def _intervals(fit: Fit, question: Question) -> dict[str, Interval]:
    """Return the mean -+ t SD / sqrt n with the pooled SD and its degrees of freedom: JMP's mean diamonds."""
    t = float(special.stdtrit(fit.df, 1 - question.alpha / 2))
    halves = {arm: t * fit.sd / math.sqrt(n) for arm, n in fit.counts.items()}
    return {arm: Interval(mean - halves[arm], mean + halves[arm]) for arm, mean in fit.means.items()}


def _letters(summaries: Mapping[str, Summary], pairs: Sequence[Pair], question: Question) -> dict[str, str]:
    """Return letters by arm, sorted by mean with the better end first, so that ``a`` is the best group."""
    if not pairs or question.repeats_exactly:
        return {}
    sign = -1 if question.direction == "higher" else 1
    ranked = sorted(summaries, key=lambda arm: sign * summaries[arm].mean)
    return connect(ranked, [(pair.first, pair.second) for pair in pairs if pair.separated])
