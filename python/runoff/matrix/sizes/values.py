"""What a comparison came to on each number of CPUs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.errors import INTERRUPTED
from runoff.results import Metric
from runoff.statistics import Comparison


def name_folder(cpus: int) -> str:
    """Return the name of the folder of the campaign with this number of CPUs."""
    return f"cpus-{cpus}"


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm in one table of one size."""

    cpus: int
    table: Table
    arm: str

    @property
    def comparison(self) -> Comparison:
        """The arm against the baseline, with this number of CPUs."""
        return self.table.analysis.comparisons[self.arm]


@dataclass(frozen=True, slots=True)
class Group:
    """One headline metric of one workload and load over all sizes."""

    heading: str
    metric: Metric
    tables: Sequence[tuple[int, Table]]
    """By number of CPUs, fewest first; sizes without it are missing."""

    def list_cells(self, arm: str) -> list[Cell]:
        """Return the cells of an arm, fewest CPUs first."""
        return [Cell(cpus, table, arm) for cpus, table in self.tables]


@dataclass(frozen=True, slots=True)
class SizeSweep:
    """All sizes."""

    sizes: tuple[int, ...]
    """Numbers of CPUs that are asked for, fewest first."""
    reports: dict[int, Report]
    """Reports of the sizes that have samples, by number of CPUs."""
    is_stopped: bool = False
    """Whether the user stopped it."""

    @property
    def first(self) -> Report:
        """Return the report of the smallest size, for what all have in common."""
        return self.reports[min(self.reports)]

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms but the baseline, in the order of the plan."""
        return self.first.results.arms[1:]

    @property
    def exit_code(self) -> int:
        """Return 130 if the user stopped it, 2 if a size is missing or not conclusive, else 0."""
        if self.is_stopped:
            return INTERRUPTED
        whole = len(self.reports) == len(self.sizes)
        return 0 if whole and all(report.is_conclusive for report in self.reports.values()) else 2

    def list_groups(self) -> Iterator[Group]:
        """Yield the headline metrics that are judged, in the order of the plan."""
        for first in self.first.headline:
            key = (first.workload, first.load, first.metric.name)
            tables = [
                (cpus, table)
                for cpus, report in sorted(self.reports.items())
                for table in report.headline
                if table.is_judged and (table.workload, table.load, table.metric.name) == key
            ]
            if tables:
                yield Group(first.short_place, first.metric, tables)
