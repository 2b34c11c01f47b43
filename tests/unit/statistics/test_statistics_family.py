"""Holm over the tables of a report, against the procedure done by hand."""

import pytest
from compared import BASE, compare

from runoff.statistics import Analysis, Verdict, judge_family


def slower(percent: float, noise: float = 1.0, arms: int = 1, tables: int = 4) -> Analysis:
    """Arms that are slower than the baseline by these factors, with noise in six blocks."""
    signs = [0.4, -0.9, 0.8, -0.5, 0.6, -0.4]
    values = [v * (1 + percent / 100) + noise * s for v, s in zip(BASE, signs, strict=True)]
    return compare({"base": BASE, **{f"arm{i}": [v * 1.0001**i for v in values] for i in range(arms)}}, tables=tables)


def of(analysis: Analysis, arm: str = "arm0"):
    return analysis.comparisons[arm]


def test_each_step_counts_the_remaining_arms():
    """p of the smallest counts four tables, of the next three, and none is below that of the one before."""
    alone = [slower(size) for size in (8.0, 1.5, 0.0, 3.0)]
    single = [of(a).p for a in alone]
    order = sorted(range(4), key=lambda i: single[i])
    reached = 0.0
    for rank, number in enumerate(order):
        reached = max(reached, 1 - (1 - single[number]) ** (4 - rank))
        assert of(judge_family(alone)[number]).p_report == pytest.approx(max(reached, single[number]))


def test_what_stands_alone_may_not_stand_among_others():
    one = slower(4.0, tables=9, noise=3.5)
    assert of(one).p < 0.05
    assert of(one).verdict is Verdict.WORSE
    assert of(judge_family([one])[0]).verdict is Verdict.WORSE
    noise = [slower(0.0, tables=9) for _ in range(8)]
    first, *_rest = judge_family([one, *noise])
    assert of(first).p == of(one).p
    assert of(first).percent_interval == of(one).percent_interval
    assert of(first).verdict is Verdict.UNCLEAR
    assert "together" in [w.kind for w in first.warnings]


def test_a_later_step_is_no_milder_than_the_table_itself():
    """With one table Holm's second arm has half of Sidak's factor; its interval has all of it."""
    (analysis,) = judge_family([slower(4.0, noise=2.5, arms=3, tables=1)])
    for arm in ("arm0", "arm1", "arm2"):
        comparison = of(analysis, arm)
        assert comparison.p_report >= comparison.p
        assert (comparison.verdict is Verdict.WORSE) == comparison.separated


def test_what_was_not_tested_has_no_p():
    void = compare({"base": BASE, "arm0": []})
    assert of(judge_family([void])[0]).p_report is None
    assert of(judge_family([void])[0]).verdict is Verdict.VOID
