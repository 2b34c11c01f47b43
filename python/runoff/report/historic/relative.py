"""Means as size against the baseline, parameters as columns: the layout of ZAPHOD's announcement of 2004."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.arm_text import ELEVATOR, split_arm
from runoff.errors import UsageError
from runoff.report.historic.footer import render_footer
from runoff.report.words import wording
from runoff.report.words.numbers import Scale
from runoff.text import parse_assignments

GAP = "  "

DECIMALS = 3
"""Decimals of means, whose units keep them below a thousand."""

COMMANDS = ("exec:", "command:")
"""Arms and workloads whose label goes on with a command line."""


@dataclass(frozen=True, slots=True)
class Label:
    """What an arm or a workload is called, taken apart."""

    name: str
    parameters: Mapping[str, str]

    @classmethod
    def from_text(cls, text: str) -> "Label":
        """Split e.g. ``zaphod:mode=eb``; a command line is all name. ``@kernel`` of an arm counts as a parameter."""
        if text.startswith(COMMANDS):
            return cls(text, {})
        try:
            parts = split_arm(text)
            name, _, rest = parts.scheduler.partition(":")
            parameters = {**parse_assignments(rest, text), **dict(parts.settings)}
        except UsageError:
            return cls(text, {})
        if parts.elevator is not None:
            name = f"{name}+{ELEVATOR}={parts.elevator}"
        return cls(name, parameters if parts.kernel is None else {**parameters, "kernel": parts.kernel})


def render(report: Report) -> str:
    """Return one table per workload and headline metric, arms in plan order; ASCII."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield wording.describe_title(report)
    for tables in _groups(report):
        yield ""
        yield from _table(report, tables)
    blocks = report.results.blocks
    about = (
        f"mean(size against {report.baseline}, standard deviation), {blocks} sample{'s' if blocks != 1 else ''} each "
        "unless n says otherwise. No test stands behind this table: the report without --table says which "
        "differences are real."
    )
    yield from render_footer(report, about)


def _groups(report: Report) -> list[list[Table]]:
    """Group headline tables that differ only in the parameters of their workload."""
    groups: dict[tuple[str, str, str], list[Table]] = {}
    for table in report.headline:
        groups.setdefault((Label.from_text(table.workload).name, table.load, table.metric.name), []).append(table)
    return list(groups.values())


def _table(report: Report, tables: Sequence[Table]) -> Iterator[str]:
    first, name = tables[0], Label.from_text(tables[0].workload).name
    beside = first.place.removeprefix(first.workload)
    yield f"{name}{beside}: {first.metric.title} ({wording.describe_direction(first)})"
    arms = [Label.from_text(arm) for arm in report.results.arms]
    keys = list(dict.fromkeys(key for arm in arms for key in arm.parameters))
    columns = [["scheduler", *(arm.name for arm in arms)]]
    columns += [[key, *(arm.parameters.get(key, "") for arm in arms)] for key in keys]
    columns += [_results(report, table, title) for table, title in zip(tables, _titles(tables), strict=True)]
    widths = [max(map(len, column)) for column in columns]
    for number, row in enumerate(zip(*columns, strict=True)):
        yield GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        if number == 0:
            yield "-" * (sum(widths) + len(GAP) * (len(widths) - 1))


def _titles(tables: Sequence[Table]) -> list[str]:
    """Return what tells the workloads of a group apart, and each column's unit."""
    labels = [Label.from_text(table.workload) for table in tables]
    differ = [key for key in labels[0].parameters if len({label.parameters.get(key) for label in labels}) > 1]
    differ = differ or list(labels[0].parameters)
    titles = []
    for label, table in zip(labels, tables, strict=True):
        text = ",".join(f"{key}={label.parameters[key]}" for key in differ if key in label.parameters)
        unit = Scale.from_table(table).unit
        titles.append(f"{text or label.name}{f' ({unit})' if unit else ''}")
    return titles


def _results(report: Report, table: Table, title: str) -> list[str]:
    scale, summaries = replace(Scale.from_table(table), decimals=DECIMALS), table.analysis.summaries
    means = {arm: scale.plain(summary.mean) for arm, summary in summaries.items()}
    width = max(map(len, means.values()), default=0)
    cells = [title]
    for arm in report.results.arms:
        summary = summaries.get(arm)
        if summary is None:
            cells.append("-")
            continue
        size = 100.0 if arm == report.baseline else _size(table, arm)
        spread = 100 * summary.sd / abs(summary.mean) if summary.sd is not None and summary.mean else None
        cell = f"{means[arm].rjust(width)}({_percent(size, 5)}, {_percent(spread, 0)})"
        cells.append(cell if summary.n == report.results.blocks else f"{cell} n={summary.n}")
    return cells


def _size(table: Table, arm: str) -> float | None:
    """Return one mean in percent of the other, as the announcement had it; verdicts compare by blocks."""
    if table.analysis.comparisons[arm].percent is None:
        return None
    summaries = table.analysis.summaries
    return 100 * (summaries[arm].mean / summaries[table.analysis.question.baseline].mean)


def _percent(value: float | None, width: int) -> str:
    """Return one decimal, and two for what would read as nothing."""
    if value is None:
        return "-"
    decimals = 2 if 0 < value < 0.05 else 1
    return f"{value:{width}.{decimals}f}%"
