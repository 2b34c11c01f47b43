"""A table of a campaign on several machines, machine by machine."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from runoff.analysis.table import Table
from runoff.report.html.table import describe_change
from runoff.report.numbers import Scale, format_p
from runoff.statistics import HETEROGENEITY_ALPHA, Analysis, Comparison, Heterogeneity, Verdict

TITLES = ("arm", "machine", "blocks", "baseline", "mean", "change", "its 95 % CI", "p(adj)", "verdict")
"""Titles of the columns of `list_machine_rows`."""


@dataclass(frozen=True, slots=True)
class MachineRow:
    """One arm on one machine, as text."""

    arm: str
    machine: str
    blocks: str
    baseline: str
    mean: str
    change: str
    interval: str
    p: str
    verdict: Verdict | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row in the order of ``TITLES``."""
        word = f"{self.verdict} {self.verdict.word}" if self.verdict else ""
        return (
            self.arm, self.machine, self.blocks, self.baseline, self.mean, self.change, self.interval, self.p, word
        )  # fmt: skip


def list_machine_rows(table: Table) -> list[MachineRow]:
    """Return a row for each arm but the baseline and each machine; empty for a campaign of one machine."""
    arms = [arm for arm in table.arms if arm != table.analysis.question.baseline]
    return [_row(table, arm, name, analysis) for arm in arms for name, analysis in table.analysis.machines.items()]


def _row(table: Table, arm: str, name: str, analysis: Analysis) -> MachineRow:
    comparison, baseline = analysis.comparisons[arm], analysis.question.baseline
    scale = Scale.from_analysis(analysis, table.metric.unit)
    means = [_mean(analysis, each, scale) for each in (baseline, arm)]
    own = replace(table, analysis=analysis)
    change, interval = describe_change(own, arm, scale, f" {scale.unit}" if scale.unit else "")
    p = "" if comparison.p is None else format_p(comparison.p)
    return MachineRow(arm, name, str(comparison.n), means[0], means[1], change or "-", interval, p, comparison.verdict)


def _mean(analysis: Analysis, arm: str, scale: Scale) -> str:
    summary = analysis.summaries.get(arm)
    return "-" if summary is None else f"{scale.plain(summary.mean)} {scale.unit}".strip()


def describe_agreement(table: Table) -> Iterator[str]:
    """Yield for each arm on how many machines it is better and worse; a warning says where machines differ."""
    for comparison in table.analysis.comparisons.values():
        if comparison.between is not None and comparison.between.machines > 1:
            yield f"{comparison.arm}: {_describe_sides(comparison.between)}{_describe_spread(comparison)}"


def describe_sides(comparison: Comparison) -> str:
    """Return on which machines an arm is better and on which worse; empty where none is certain."""
    between = comparison.between
    if between is None:
        return ""
    sides = (("better", between.better), ("worse", between.worse))
    return " and ".join(f"{word} on {_name(names)}" for word, names in sides if names)


def _describe_sides(between: Heterogeneity) -> str:
    sides = [
        f"{word} on {len(names)} of {between.machines} machines ({_name(names)})"
        for word, names in (("better", between.better), ("worse", between.worse))
        if names
    ]
    return ", ".join(sides) if sides else f"not certain on any single one of {between.machines} machines"


def _describe_spread(comparison: Comparison) -> str:
    between = comparison.between
    if between is None or between.p is None or between.p <= HETEROGENEITY_ALPHA:
        return ""
    return f"; no sign that its change differs between them (p={format_p(between.p)})"


def _name(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
