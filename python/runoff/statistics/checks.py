"""Reasons not to believe a comparison."""

from collections.abc import Iterator, Mapping, Sequence

from runoff.statistics.advice import find_unclear
from runoff.statistics.describe import is_constant
from runoff.statistics.trend import mann_kendall
from runoff.statistics.values import Comparison, Observation, Question, Summary, Warning

FEW = 5
"""Below this many samples per arm only differences of three SD or more have an even chance to show."""

CHECK_ALPHA = 0.01
"""Checks run on every metric, so each gets a stricter level than the comparison itself."""

DRIFT_MINIMUM = 8
"""Kendall's test cannot reach CHECK_ALPHA usefully with fewer samples."""


def find_warnings(
    arms: Mapping[str, Sequence[Observation]],
    summaries: Mapping[str, Summary],
    comparisons: Mapping[str, Comparison],
    question: Question,
) -> tuple[Warning, ...]:
    """Return all that apply, the gravest first."""
    found: list[Warning] = []
    if question.baseline not in summaries:
        found.append(Warning("baseline", (question.baseline,)))
    if len(summaries) > 1:
        found += _check_few(summaries, comparisons, question)
        found += list(_check_spread(summaries, comparisons, question)) or _check_coarse(comparisons, question)
    found += _check_order(comparisons, question)
    found += _check_dependent(comparisons, question)
    found += _check_drift(arms, summaries) if question.paired else ()
    found += _check_outliers(summaries)
    found += find_unclear(comparisons, question)
    return tuple(found)


def _check_few(
    summaries: Mapping[str, Summary], comparisons: Mapping[str, Comparison], question: Question
) -> Iterator[Warning]:
    if question.repeats_exactly or question.baseline not in summaries:
        return
    few = [c.arm for c in comparisons.values() if c.arm in summaries and c.arm != question.baseline and c.n < FEW]
    if few:
        yield Warning("few", tuple(few), blocks=FEW)


def _check_spread(
    summaries: Mapping[str, Summary], comparisons: Mapping[str, Comparison], question: Question
) -> Iterator[Warning]:
    if any(summary.sd for summary in summaries.values()):
        return
    if question.repeats_exactly:
        yield Warning("copies", tuple(summaries))
    elif is_constant([summary.mean for summary in summaries.values()]):
        yield Warning("constant")
    elif any(comparison.n > 1 for comparison in comparisons.values()):
        yield Warning("constant", tuple(summaries))


def _check_coarse(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    """Warn about coarse values whatever the verdict: an interval does not show what the digits hide."""
    if question.direction == "none":
        return
    coarse = [c for c in comparisons.values() if c.coarse and c.n > 1]
    for arms in ([c.arm for c in coarse if c.step is None], [c.arm for c in coarse if c.step is not None]):
        if arms:
            yield Warning("coarse", tuple(arms))


def _check_order(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    arms = [c.arm for c in comparisons.values() if c.confounded and question.direction != "none"]
    if arms:
        yield Warning("order", tuple(arms))


def _check_dependent(comparisons: Mapping[str, Comparison], question: Question) -> Iterator[Warning]:
    alike = [c.arm for c in comparisons.values() if c.dependent]
    if alike and question.direction != "none":
        yield Warning("dependent", tuple(alike))


def _check_drift(arms: Mapping[str, Sequence[Observation]], summaries: Mapping[str, Summary]) -> Iterator[Warning]:
    """Test the residuals of the arm means over the run order with Mann-Kendall."""
    placed: list[tuple[int, float]] = []
    for arm, summary in summaries.items():
        if summary.sd:
            placed += [(o.position, o.value - summary.mean) for o in arms[arm]]
    residuals = [value for _, value in sorted(placed)]
    if len(residuals) < DRIFT_MINIMUM or is_constant(residuals):
        return
    tau, p = mann_kendall(residuals)
    if p < CHECK_ALPHA:
        yield Warning("drift", tuple(summaries), numbers={"tau": tau, "p": p})


def _check_outliers(summaries: Mapping[str, Summary]) -> Iterator[Warning]:
    arms = [summary.arm for summary in summaries.values() if summary.outliers]
    if arms:
        yield Warning("outliers", tuple(arms))
