"""Reasons not to believe a comparison, each with the way out."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from runoff.statistics.describe import constant
from runoff.statistics.values import Comparison, Observation, Pair, Question, Summary, Verdict, Warning

FEW = 5
"""Below this many samples per arm only differences of two SD or more have an even chance to show."""

CHECK_ALPHA = 0.01
"""Checks run on every metric, so each gets a stricter level than the comparison itself."""

DRIFT_MINIMUM = 8
"""Kendall's test cannot reach CHECK_ALPHA usefully with fewer samples."""

MANY_BLOCKS = 1000


def warnings(
    arms: Mapping[str, Sequence[Observation]],
    summaries: Mapping[str, Summary],
    pairs: Sequence[Pair],
    comparisons: Mapping[str, Comparison],
    question: Question,
    unequal: float | None,
) -> tuple[Warning, ...]:
    """All that apply, the gravest first; ``unequal`` is ``spread_p`` where that is small."""
    found: list[Warning] = []
    found += _baseline(summaries, question)
    if len(summaries) > 1:
        found += _few(summaries, question)
        found += _no_spread(summaries, question)
    if unequal is not None:
        found += _unequal_spread(summaries, pairs, question, unequal)
    found += _drift(arms, summaries)
    found += _resolution(summaries, comparisons, question)
    return tuple(found)


def _baseline(summaries: Mapping[str, Summary], question: Question) -> Iterator[Warning]:
    if question.baseline not in summaries:
        yield Warning(
            "baseline",
            f"the baseline {question.baseline} has no valid sample, so nothing can be compared with it: "
            "remove the cause of its voids, or name another arm first",
        )


def _few(summaries: Mapping[str, Summary], question: Question) -> Iterator[Warning]:
    short = [f"{s.arm} ({s.n})" for s in summaries.values() if s.n < FEW]
    if short and not question.repeats_exactly:
        yield Warning(
            "few",
            f"too few valid samples to separate any but large differences: {', '.join(short)}; "
            f"take at least {FEW} per arm (--blocks)",
        )


def _no_spread(summaries: Mapping[str, Summary], question: Question) -> Iterator[Warning]:
    if any(summary.sd for summary in summaries.values()):
        return
    if question.repeats_exactly:
        yield Warning(
            "copies",
            "every block repeated the same run to the last digit, so more blocks add no evidence and nothing was "
            "tested: let each block start from its own perturbation",
        )
    elif constant([summary.mean for summary in summaries.values()]):
        yield Warning(
            "constant",
            "all values are identical: the clock is too coarse, or the work does not depend on the scheduler; "
            "use a longer workload or a finer metric",
        )
    elif any(summary.n > 1 for summary in summaries.values()):
        yield Warning(
            "constant",
            "no arm varies between blocks, so intervals have no width and pairs are tested by permutation; "
            "use a longer workload or a finer metric if the clock is coarse",
        )


def spread_p(arms: Mapping[str, Sequence[Observation]], summaries: Mapping[str, Summary]) -> float | None:
    """Brown-Forsythe (1974), that is Levene's test about the medians; None with too little to test."""
    spreads = [summary for summary in summaries.values() if summary.n > 2]
    if len(spreads) < 2 or not any(summary.sd for summary in spreads):
        return None
    scale = max(abs(o.value) for summary in spreads for o in arms[summary.arm])
    groups = [[o.value / scale for o in arms[summary.arm]] for summary in spreads]
    from scipy import stats

    with np.errstate(divide="ignore", invalid="ignore"):  # deviations that are constant in every arm
        return float(stats.levene(*groups, center="median").pvalue)


def _unequal_spread(
    summaries: Mapping[str, Summary], pairs: Sequence[Pair], question: Question, p: float
) -> Iterator[Warning]:
    spreads = [summary for summary in summaries.values() if summary.n > 2]
    wide, narrow = max(spreads, key=lambda s: s.sd or 0.0), min(spreads, key=lambda s: s.sd or 0.0)
    ratio = f"{(wide.sd or 0.0) / narrow.sd:.1f} times that" if narrow.sd else "not zero as that"
    lost = [f"{q.first}/{q.second}" for q in pairs if q.separated and not (q.p_unpooled or 0.0) < question.alpha]
    check = f", which {', '.join(lost)} did not" if lost else ", as all of them did here"
    if not any(pair.separated for pair in pairs):
        check = ""
    yield Warning(
        "spread",
        f"the SD of {wide.arm} is {ratio} of {narrow.arm} (Brown-Forsythe p={p:.2g}), but the intervals share one "
        f"pooled SD: believe only separated pairs that pass Games-Howell too{check}",
    )


def _drift(arms: Mapping[str, Sequence[Observation]], summaries: Mapping[str, Summary]) -> Iterator[Warning]:
    """Mann-Kendall on the residuals of the arm means over the run order."""
    positions: list[int] = []
    residuals: list[float] = []
    for arm, summary in summaries.items():
        if summary.sd:
            positions += [o.position for o in arms[arm]]
            residuals += [o.value - summary.mean for o in arms[arm]]
    if len(residuals) < DRIFT_MINIMUM or constant(residuals):
        return
    from scipy import stats

    tau, p = (float(x) for x in stats.kendalltau(np.asarray(positions), np.asarray(residuals)))
    if p < CHECK_ALPHA:
        trend = "rise" if tau > 0 else "fall"
        yield Warning(
            "drift",
            f"values {trend} along the run order (Mann-Kendall tau={tau:+.2f}, p={p:.2g}): blocks share the drift "
            "among the arms, but it widens every interval; let the machine settle, fix its frequency, and repeat",
        )


def _resolution(
    summaries: Mapping[str, Summary], comparisons: Mapping[str, Comparison], question: Question
) -> Iterator[Warning]:
    """How many blocks would shrink the widest unclear interval to the margin (half-width ~ 1 / sqrt n)."""
    unclear = [c for c in comparisons.values() if c.verdict is Verdict.UNCLEAR and c.percent_interval]
    if not unclear or min(summaries[c.arm].n for c in unclear) < 3:
        return
    half = max((c.percent_interval.high - c.percent_interval.low) / 2 for c in unclear if c.percent_interval)
    n = min(summaries[c.arm].n for c in unclear)
    needed = math.ceil(n * (half / (100 * question.margin)) ** 2)
    if needed <= n:
        return
    blocks = f"about {needed}" if needed <= MANY_BLOCKS else f"more than {MANY_BLOCKS}"
    yield Warning(
        "resolution",
        f"unclear: {', '.join(c.arm for c in unclear)}; the interval is +-{half:.1f} % wide, "
        f"{blocks} blocks would narrow it to the margin of +-{100 * question.margin:g} %",
    )
