"""The verdict in sentences a reader can quote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from runoff.report.numbers import Scale, percent_text
from runoff.results import Results
from runoff.statistics import Comparison, Verdict

if TYPE_CHECKING:
    from runoff.report.model import Table

EACH_TABLE_UP_TO = 4
"""With more headline tables than this one sentence per arm says more than one per table."""


def verdict(results: Results, tables: Sequence[Table]) -> tuple[str, ...]:
    """At least one sentence."""
    judged = [table for table in tables if table.judged]
    if not judged:
        return (_nothing_judged(results, tables),)
    per_arm = len(judged) > EACH_TABLE_UP_TO
    told = (
        [_tally(results.arms[0], arm, judged) for arm in results.arms[1:]] if per_arm else [_table(t) for t in judged]
    )
    if len(results.samples) < results.planned:
        told[0] = f"Provisional, {len(results.samples)} of {results.planned} samples: {told[0]}"
    return tuple(told)


def _nothing_judged(results: Results, tables: Sequence[Table]) -> str:
    if len(results.arms) == 1:
        return f"{results.arms[0]} is the only arm: its samples are described, nothing is compared."
    if not results.samples:
        return "No sample has been taken yet."
    return (
        "No headline metric has a direction, so no arm is called better."
        if tables
        else "No headline metric was measured."
    )


def _tally(baseline: str, arm: str, tables: Sequence[Table]) -> str:
    found = [table.analysis.comparisons[arm].verdict for table in tables]
    counts = [f"{verdict.word} in {found.count(verdict)}" for verdict in Verdict if verdict in found]
    return f"{arm} against {baseline}: {', '.join(counts)} of {len(tables)} tables."


def _table(table: Table) -> str:
    analysis = table.analysis
    baseline = analysis.question.baseline
    name = f"{table.place}, {table.metric.title}"
    if baseline not in analysis.summaries:
        return f"{name}: no verdict, the baseline {baseline} has no valid sample."
    scale = Scale.of(table)
    by: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for arm in table.arms:
        comparison = analysis.comparisons[arm]
        if arm != baseline and comparison.verdict is not None:
            by[comparison.verdict].append(_arm(comparison, scale))
    others = len(analysis.comparisons) - 1
    margin = f"{100 * analysis.question.margin:g} %"
    parts = []
    for verdict in (Verdict.BETTER, Verdict.WORSE):
        if by[verdict]:
            parts.append(f"{_listed(by[verdict])} {_is(by[verdict])} {verdict.word} than {baseline}")
    if by[Verdict.SAME]:
        margin_text = f"within {margin}" if analysis.relative else "to the last digit"
        parts.append(f"{_listed(by[Verdict.SAME])} {_is(by[Verdict.SAME])} the same as {baseline} {margin_text}")
    if by[Verdict.UNCLEAR]:
        every = "no arm" if len(by[Verdict.UNCLEAR]) == others > 1 else None
        told = f"{every} can" if every else f"{_listed(by[Verdict.UNCLEAR])} cannot"
        parts.append(f"{told} be told apart from {baseline}")
    if by[Verdict.VOID]:
        parts.append(
            f"{_listed(by[Verdict.VOID])} has no valid sample"
            if len(by[Verdict.VOID]) == 1
            else f"{_listed(by[Verdict.VOID])} have no valid sample"
        )
    return f"{name}: {'; '.join(parts)}."


def _arm(comparison: Comparison, scale: Scale) -> str:
    """Names the size only of a difference that was separated."""
    if comparison.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return comparison.arm
    if comparison.percent is not None:
        return f"{comparison.arm} ({percent_text(comparison.percent, 1)} %)"
    return f"{comparison.arm} ({scale.signed(comparison.difference or 0.0)} {scale.unit})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
