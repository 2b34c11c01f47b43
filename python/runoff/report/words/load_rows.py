"""A metric of one workload beside every load: how much each load slows each arm."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.words.numbers import Scale
from runoff.results import NO_LOAD
from runoff.statistics import Verdict


@dataclass(frozen=True, slots=True)
class Entry:
    """One arm beside one load."""

    mean: float | None
    """None without a valid sample."""
    ratio: float | None
    """To the same arm without a load, as contest had it; None if that was not measured, or is 0."""
    verdict: Verdict | None
    """Against the baseline beside the same load."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows are loads, columns arms, both in plan order."""

    tables: Mapping[str, Table]
    """By load; all of one workload and one metric."""
    arms: tuple[str, ...]
    entries: Mapping[tuple[str, str], Entry]
    """By load and arm."""
    machine: str = ""
    """The one of several that took it."""

    @property
    def subject(self) -> str:
        """What it shows, and of which machine."""
        of_one = f"{self.machine}, " if self.machine else ""
        return f"{of_one}{self.first.workload}: {self.first.metric.title} beside each load"

    @property
    def first(self) -> Table:
        """For what is the same in all of them."""
        return next(iter(self.tables.values()))

    @property
    def scale(self) -> Scale:
        """Unit and digits of the largest mean, which are used for all."""
        return Scale.from_table(max(self.tables.values(), key=_largest))

    @property
    def has_ratios(self) -> bool:
        """Whether there is anything to relate to."""
        return any(entry.ratio is not None for entry in self.entries.values())


def build(report: Report) -> Iterator[Matrix]:
    """Yield one for each workload and headline metric, if the campaign has several loads.

    A time on one machine is never pooled with a time on another: of a campaign on several there is one for each.
    """
    if len(report.results.loads) < 2:
        return
    machines = report.results.machines
    if len(machines) > 1:
        for name in machines:
            yield from _build(report.select_machine(name), name)
    else:
        yield from _build(report)


def _build(report: Report, machine: str = "") -> Iterator[Matrix]:
    groups: dict[tuple[str, str], dict[str, Table]] = {}
    for table in report.headline:
        groups.setdefault((table.workload, table.metric.name), {})[table.load] = table
    for tables in groups.values():
        arms = report.results.arms
        alone = tables.get(NO_LOAD)
        entries = {(load, arm): _entry(tables[load], alone, arm) for load in tables for arm in arms}
        yield Matrix(tables, arms, entries, machine)


def _entry(table: Table, alone: Table | None, arm: str) -> Entry:
    mean, own = table.find_mean(arm), None if alone is None else alone.find_mean(arm)
    ratio = mean / own if mean is not None and own else None
    comparison = table.analysis.comparisons.get(arm)
    return Entry(mean, ratio, comparison.verdict if comparison is not None and table.is_judged else None)


def _largest(table: Table) -> float:
    return max((abs(summary.mean) for summary in table.analysis.summaries.values()), default=0.0)
