"""Several tables judged together: Holm's step-down over all their comparisons (Holm 1979, with Sidak's levels).

Twenty tables of pure noise would show a difference in one. A table's own intervals guard its own comparisons; what is
called better or worse in a report has to pass this too.
"""

from collections.abc import Sequence
from dataclasses import replace

from runoff.statistics.advice import find_unclear
from runoff.statistics.level import adjust, unadjust
from runoff.statistics.values import Analysis
from runoff.statistics.verdict import judge

ADVICE = ("resolution", "rare", "together")


def judge_family(analyses: Sequence[Analysis]) -> tuple[Analysis, ...]:
    """Return the same analyses with p over all of them and the verdicts that follow.

    Each was asked with ``Question.tables`` as many as these. With one table nothing changes but that p is known.
    """
    single = {
        (number, arm): unadjust(c.p, len(analysis.comparisons) - 1)
        for number, analysis in enumerate(analyses)
        for arm, c in analysis.comparisons.items()
        if c.p is not None
    }
    ranked = sorted(single, key=lambda key: single[key])
    reached, p_report = 0.0, {}
    for rank, key in enumerate(ranked):
        reached = max(reached, adjust(single[key], len(ranked) - rank))
        p_report[key] = reached
    return tuple(
        _rejudge(analysis, {arm: p_report.get((number, arm)) for arm in analysis.comparisons})
        for number, analysis in enumerate(analyses)
    )


def _rejudge(analysis: Analysis, p_report: dict[str, float | None]) -> Analysis:
    question = analysis.question
    comparisons = dict(analysis.comparisons)
    for arm, p in p_report.items():
        if p is not None:
            # A table's own intervals are simultaneous already: Holm's later steps must not be more lenient than they.
            stricter = max(p, comparisons[arm].p or 0.0)
            comparisons[arm] = judge(replace(comparisons[arm], p_report=stricter), question, len(comparisons) - 1)
    kept = tuple(warning for warning in analysis.warnings if warning.kind not in ADVICE)
    return replace(analysis, comparisons=comparisons, warnings=(*kept, *find_unclear(comparisons, question)))
