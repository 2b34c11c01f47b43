"""A table of a campaign on several machines, machine by machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from runoff.analysis.table import Table
from runoff.report.words.numbers import Scale, format_p
from runoff.report.words.rows import describe_change
from runoff.report.words.warnings import describe_warning
from runoff.statistics import HETEROGENEITY_ALPHA, Analysis, Comparison, Heterogeneity, Verdict

TITLES = ("arm", "machine", "blocks", "baseline", "mean", "change", "its 95 % CI", "p(adj)", "verdict")
"""Titles of the columns of `list_machine_rows`."""

MOST_NAMED = 6
"""Machines, or tables, that a sentence names."""


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
    change, interval = describe_change(own, arm, scale)
    together = comparison.p if comparison.p_report is None else comparison.p_report
    p = "" if together is None else format_p(together)
    return MachineRow(arm, name, str(comparison.n), means[0], means[1], change or "-", interval, p, comparison.verdict)


def _mean(analysis: Analysis, arm: str, scale: Scale) -> str:
    summary = analysis.summaries.get(arm)
    return "-" if summary is None else f"{scale.plain(summary.mean)} {scale.unit}".strip()


def describe_agreement(table: Table) -> Iterator[str]:
    """Yield for each arm on how many machines it is better and worse, and which are not counted; a warning says where
    machines differ."""
    for arm, comparison in table.analysis.comparisons.items():
        if comparison.between is not None and comparison.between.machines > 1:
            yield f"{arm}: {_describe_sides(comparison.between)}{_describe_spread(comparison)}"
        if missing := list_missing(table, arm):
            yield f"{arm}: not counted, without a block that has valid samples of both: {_name(missing)}"


def list_missing(table: Table, arm: str) -> tuple[str, ...]:
    """Return the machines that say nothing of ``arm``: no block there has a valid sample of it and of the baseline.

    Empty where none says anything.
    """
    if arm == table.analysis.question.baseline:
        return ()
    machines = table.analysis.machines
    missing = tuple(name for name, own in machines.items() if own.comparisons[arm].difference is None)
    return missing if len(missing) < len(machines) else ()


def describe_machines(machines: Sequence[str], tables: Sequence[Table]) -> str:
    """Return over how many ``machines`` the verdicts of ``tables`` are: over 3 of 4 machines."""
    missing = [len(list_missing(table, arm)) for table in tables for arm in list(table.analysis.comparisons)[1:]]
    most, fewest = (len(machines) - count for count in (min(missing, default=0), max(missing, default=0)))
    counted = f"{most}" if most == fewest else f"{fewest} to {most}"
    return f"{counted} machines" if fewest == len(machines) else f"{counted} of {len(machines)} machines"


def describe_dissent(tables: Sequence[Table]) -> Iterator[str]:
    """Yield a sentence for each arm that is certainly better or worse on machines, where the verdict is another.

    An arm with the verdict that machines disagree is described by that.
    """
    sentences = list(_list_dissent(tables))
    yield from sentences[:MOST_NAMED]
    if len(sentences) > MOST_NAMED:
        yield f"But {len(sentences) - MOST_NAMED} more arms are certainly better or worse on single machines."


def _list_dissent(tables: Sequence[Table]) -> Iterator[str]:
    for arm in list(tables[0].analysis.comparisons)[1:] if tables else ():
        places: dict[str, list[Table]] = {}
        for table in tables:
            if sides := _describe_other_sides(table.analysis.comparisons[arm]):
                places.setdefault(sides, []).append(table)
        parts = [f"{sides}{_describe_tables(found, tables)}" for sides, found in places.items()]
        if parts:
            more = f", and on others in {len(parts) - MOST_NAMED} more tables" if len(parts) > MOST_NAMED else ""
            yield f"But {arm} is {', and '.join(parts[:MOST_NAMED])}{more}."


def _describe_tables(found: Sequence[Table], tables: Sequence[Table]) -> str:
    """Return in which of ``tables``; empty where there is only one."""
    if len(tables) == 1:
        return ""
    if len(found) == 1:
        return f" in {found[0].short_place}, {found[0].metric.title}"
    return f" in {len(found)} of {len(tables)} tables"


def describe_disagreement(tables: Sequence[Table]) -> Iterator[str]:
    """Yield the warnings that the change of an arm differs between machines, with the table that each is about."""
    for table in tables:
        for warning in table.analysis.warnings:
            if warning.kind == "machines":
                yield f"{table.short_place}, {table.metric.title}: {describe_warning(warning, table.analysis)}"


def _describe_other_sides(comparison: Comparison) -> str:
    between = comparison.between
    if between is None or comparison.verdict is Verdict.MIXED:
        return ""
    agreed = {Verdict.BETTER: "better", Verdict.WORSE: "worse"}.get(comparison.verdict or Verdict.VOID, "")
    return " and ".join(f"{word} on {_name(names)}" for word, names in _list_sides(between) if word != agreed)


def describe_sides(comparison: Comparison) -> str:
    """Return on which machines an arm is better and on which worse; empty where none is certain."""
    between = comparison.between
    if between is None:
        return ""
    return " and ".join(f"{word} on {_name(names)}" for word, names in _list_sides(between))


def _list_sides(between: Heterogeneity) -> list[tuple[str, tuple[str, ...]]]:
    return [(word, names) for word, names in (("better", between.better), ("worse", between.worse)) if names]


def _describe_sides(between: Heterogeneity) -> str:
    sides = [
        f"{word} on {len(names)} of {between.machines} machines ({_name(names)})"
        for word, names in _list_sides(between)
    ]
    return ", ".join(sides) if sides else f"not certain on any single one of {between.machines} machines"


def _describe_spread(comparison: Comparison) -> str:
    between = comparison.between
    if between is None or between.p is None or between.p <= HETEROGENEITY_ALPHA:
        return ""
    return f"; no sign that its change differs between them (p={format_p(between.p)})"


def _name(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
