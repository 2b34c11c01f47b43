"""Reasons not to believe a comparison, each with the way out."""

import math
from collections.abc import Iterator, Mapping, Sequence

from runoff.statistics.advice import resolution
from runoff.statistics.blocks import CORRELATION_MINIMUM, CORRELATION_Z
from runoff.statistics.describe import constant
from runoff.statistics.trend import mann_kendall
from runoff.statistics.values import Comparison, Observation, Question, Summary, Warning

FEW = 5
"""Below this many samples per arm only differences of three SD or more have an even chance to show."""

CHECK_ALPHA = 0.01
"""Checks run on every metric, so each gets a stricter level than the comparison itself."""

DRIFT_MINIMUM = 8
"""Kendall's test cannot reach CHECK_ALPHA usefully with fewer samples."""

MOST_OUTLIERS = 4
"""Arms that are named with theirs."""


def warnings(
    arms: Mapping[str, Sequence[Observation]],
    summaries: Mapping[str, Summary],
    comparisons: Mapping[str, Comparison],
    question: Question,
) -> tuple[Warning, ...]:
    """All that apply, the gravest first."""
    found: list[Warning] = []
    found += _baseline(summaries, question)
    if len(summaries) > 1:
        found += _few(summaries, comparisons, question)
        found += list(_no_spread(summaries, comparisons, question)) or _coarse(comparisons, question)
    found += _order(comparisons, question)
    found += _dependent(comparisons, question)
    found += _drift(arms, summaries)
    found += _outliers(summaries)
    found += resolution(comparisons, question)
    return tuple(found)


def _baseline(summaries: Mapping[str, Summary], question: Question) -> Iterator[Warning]:
    if question.baseline in summaries:
        return
    others = "or name another arm first" if summaries else "and take them again"
    yield Warning(
        "baseline",
        f"the baseline {question.baseline} has no valid sample, so nothing can be compared with it: "
        f"remove the cause of its voids, {others}",
    )


def _few(
    summaries: Mapping[str, Summary], comparisons: Mapping[str, Comparison], question: Question
) -> Iterator[Warning]:
    known = [c for c in comparisons.values() if c.arm in summaries and c.arm != question.baseline]
    short = [f"{c.arm} ({c.n})" for c in known if c.n < FEW]
    if short and not question.repeats_exactly and question.baseline in summaries:
        yield Warning(
            "few",
            f"too few blocks with a valid sample of both to separate any but large differences: {', '.join(short)}; "
            f"take at least {FEW} (--blocks), 10 are better",
        )


def _no_spread(
    summaries: Mapping[str, Summary], comparisons: Mapping[str, Comparison], question: Question
) -> Iterator[Warning]:
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
    elif any(comparison.n > 1 for comparison in comparisons.values()):
        yield Warning(
            "constant",
            "no arm varies between blocks, so intervals have no width and differences are tested by their signs; "
            "use a longer workload or a finer metric if the clock is coarse",
        )


def _coarse(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    """Beside any verdict: an interval says nothing of what the digits hide."""
    if question.direction == "none":
        return
    coarse = [c for c in comparisons.values() if c.coarse and c.n > 1]
    finer = "use a longer workload or a finer metric"
    if one := [c.arm for c in coarse if c.step is None]:
        yield Warning(
            "coarse",
            f"all values of {', '.join(one)} and of {question.baseline} are one number, so how far they may differ is "
            f"not known: {finer}",
        )
    if steps := [c for c in coarse if c.step is not None]:
        size = 100 * max(c.step or 0.0 for c in steps)
        yield Warning(
            "coarse",
            f"values come in steps of {size:.2g} %, and the margin is {100 * question.margin:g} %: too coarse to call "
            f"{', '.join(c.arm for c in steps)} the same as {question.baseline}; {finer}",
        )


def _order(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    arms = [c.arm for c in comparisons.values() if c.confounded and question.direction != "none"]
    if arms:
        yield Warning(
            "order",
            f"values drift from block to block, and chance has put {', '.join(arms)} on the same side of "
            f"{question.baseline} in all of them, so that drift and difference look alike and nothing was tested: "
            "take more blocks",
        )


def _dependent(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    alike = [
        f"{c.arm} (lag-1 correlation {c.correlation:.2f})"
        for c in comparisons.values()
        if c.correlation is not None and c.n >= CORRELATION_MINIMUM and c.correlation >= CORRELATION_Z / math.sqrt(c.n)
    ]
    if alike and question.direction != "none":
        yield Warning(
            "dependent",
            f"differences of neighbouring blocks are alike: {', '.join(alike)}; intervals are widened for it, "
            "as something slower than a block changes one of the arms",
        )


def _drift(arms: Mapping[str, Sequence[Observation]], summaries: Mapping[str, Summary]) -> Iterator[Warning]:
    """Mann-Kendall on the residuals of the arm means over the run order."""
    placed: list[tuple[int, float]] = []
    for arm, summary in summaries.items():
        if summary.sd:
            placed += [(o.position, o.value - summary.mean) for o in arms[arm]]
    residuals = [value for _, value in sorted(placed)]
    if len(residuals) < DRIFT_MINIMUM or constant(residuals):
        return
    tau, p = mann_kendall(residuals)
    if p < CHECK_ALPHA:
        trend = "rise" if tau > 0 else "fall"
        yield Warning(
            "drift",
            f"values {trend} along the run order (Mann-Kendall tau={tau:+.2f}, p={p:.2g}): blocks take the drift out "
            "of the comparison, but means and quantiles hold only for this campaign; let the machine settle, fix its "
            "frequency",
        )


def _outliers(summaries: Mapping[str, Summary]) -> Iterator[Warning]:
    having = [f"{len(s.outliers)} of {s.n} of {s.arm}" for s in summaries.values() if s.outliers]
    if having:
        more = f" and {len(having) - MOST_OUTLIERS} more arms" if len(having) > MOST_OUTLIERS else ""
        yield Warning(
            "outliers",
            f"far from the rest of their arm, and kept: {', '.join(having[:MOST_OUTLIERS])}{more}; "
            "the page shows when they happened",
        )
