"""Tukey-Kramer: every pair of arms under one family-wise error (Tukey 1953, Kramer 1956).

Of two arms the range is the difference, so that Student's t is exact. Importing ``scipy.stats`` takes long, so it is
only done where ``scipy.special`` has nothing for the question.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations

from scipy import special

from runoff.statistics.describe import is_constant
from runoff.statistics.fit import Fit
from runoff.statistics.values import Interval, Pair, Question, Summary


@lru_cache(maxsize=256)
def critical(alpha: float, arms: int, df: int) -> float:
    """Return the multiple of a difference's standard error that separates a pair: q(1 - alpha; arms, df) / sqrt 2."""
    if arms == 2:
        return float(special.stdtrit(df, 1 - alpha / 2))
    from scipy import stats

    return float(stats.studentized_range.ppf(1 - alpha, arms, df)) / math.sqrt(2)


@lru_cache(maxsize=4096)
def adjusted_p(t: float, arms: int, df: float) -> float:
    """Return P that the largest of all pairwise |t| among ``arms`` equal arms exceeds ``t``."""
    if arms == 2:
        return 2 * float(special.stdtr(df, -t))
    from scipy import stats

    return min(1.0, max(0.0, float(stats.studentized_range.sf(math.sqrt(2) * t, arms, df))))


def compare_pairs(fit: Fit, summaries: Mapping[str, Summary], question: Question) -> tuple[Pair, ...]:
    """Return all pairs of arms in plan order."""
    couples = [(summaries[a], summaries[b]) for a, b in combinations(fit.means, 2)]
    if fit.sd == 0:
        return tuple(_compare_constant_pair(a, b, len(couples), question) for a, b in couples)
    return tuple(_compare_pair(fit, a, b, question.alpha) for a, b in couples)


def _compare_pair(fit: Fit, a: Summary, b: Summary, alpha: float) -> Pair:
    difference = fit.means[b.arm] - fit.means[a.arm]
    arms = len(fit.means)
    error = fit.standard_error(a.arm, b.arm)
    half = critical(alpha, arms, fit.df) * error
    return Pair(
        a.arm,
        b.arm,
        difference,
        Interval(difference - half, difference + half),
        adjusted_p(abs(difference) / error, arms, fit.df),
        games_howell_p(a, b, arms),
        abs(difference) > half,
    )


def _compare_constant_pair(a: Summary, b: Summary, pairs_tested: int, question: Question) -> Pair:
    """Compare two constant arms, which have no error: return how rarely shuffled labels sort as well.

    Of all ways to deal the labels only two part the values completely, which gives the permutation
    test's p (times the number of pairs). Copies of one deterministic run are not exchangeable
    samples, so for them nothing is tested.
    """
    difference = 0.0 if is_constant([a.mean, b.mean]) else b.mean - a.mean
    if question.repeats_exactly:
        return Pair(a.arm, b.arm, difference, None, None, None, False)
    p = min(1.0, pairs_tested * 2 / math.comb(a.n + b.n, a.n)) if difference else 1.0
    separated = p <= question.alpha
    interval = Interval(difference, difference) if separated or not difference else None
    return Pair(a.arm, b.arm, difference, interval, p, None, separated)


def games_howell_p(a: Summary, b: Summary, arms: int) -> float | None:
    """Return each pair with its own variances and Welch's degrees of freedom (Games and Howell 1976).

    None if an arm is not replicated or neither varies.
    """
    if (not a.sd and not b.sd) or a.sd is None or b.sd is None:
        return None
    scale = max(a.sd, b.sd)
    va, vb = (a.sd / scale) ** 2 / a.n, (b.sd / scale) ** 2 / b.n
    df = (va + vb) ** 2 / (va**2 / (a.n - 1) + vb**2 / (b.n - 1))
    return adjusted_p(abs(b.mean - a.mean) / scale / math.sqrt(va + vb), arms, df)
