"""Time, cost and improvement over the number of processes, with a plot: the layout of the counters' test of 2009."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.errors import UsageError
from runoff.report.historic.footer import WIDTH, render_footer
from runoff.report.historic.relative import Label
from runoff.report.words import wording
from runoff.report.words.layout import wrap

GAP = "  "

COST = "cost_s"
"""The metric that is set beside the time in brackets, where a workload has it."""

PLOT_WIDTH, PLOT_HEIGHT = 64, 16
MARKS = "abcdefghijklmnopqrstuvwxyz"
SEVERAL = "*"
"""Where more than one arm has its point."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of workloads that differ in one number."""

    name: str
    parameter: str
    tables: Mapping[int, Table]
    """By that number, rising."""
    costs: Mapping[int, Table]
    """Tables of the cost by that number; empty if the workload has none."""

    @property
    def first(self) -> Table:
        """Any of the tables: all are of one metric."""
        return next(iter(self.tables.values()))


def render(report: Report) -> str:
    """Render a table and plot for each workload in several sizes, in ASCII. Raises UsageError without one."""
    found = list(_series(report))
    if not found:
        raise UsageError(
            "--table counters is of a workload in several sizes, such as counters:n=1..8 or compile:jobs=1..5, and the "
            "campaign has none"
        )
    return "\n".join(_lines(report, found)) + "\n"


def _lines(report: Report, found: Sequence[Series]) -> Iterator[str]:
    yield wording.describe_title(report)
    for series in found:
        yield ""
        metric = series.first.metric
        yield f"{series.name}: {metric.title} ({metric.unit}, {wording.describe_direction(series.first)})"
        yield from _table(report, series)
        yield ""
        yield from _plot(report, series)
    about = (
        f"Impr% is what an arm saves of {report.baseline}'s mean, in percent of that. No test stands behind this: "
        "the report without --table says which differences are real."
    )
    yield from render_footer(report, about)


def _series(report: Report) -> Iterator[Series]:
    """Yield headline metrics for which lower is better, of workloads that differ in one whole number only."""
    groups: dict[tuple[str, str, str], list[Table]] = {}
    for table in report.headline:
        if table.metric.direction == "lower":
            groups.setdefault((Label.from_text(table.workload).name, table.load, table.metric.name), []).append(table)
    for (name, load, metric), tables in groups.items():
        parameter = _parameter(report, tables)
        if parameter is None:
            continue
        by_number = {_number(report, table, parameter): table for table in tables}
        beside = tables[0].place.removeprefix(tables[0].workload)
        costs = {
            number: cost
            for number, table in by_number.items()
            for cost in report.tables
            if (cost.workload, cost.load, cost.metric.name) == (table.workload, load, COST) and metric == "time_s"
        }
        yield Series(f"{name}{beside}", parameter, dict(sorted(by_number.items())), costs)


def _values(report: Report, table: Table) -> Mapping[str, str]:
    return {**report.results.parameters.get(table.workload, {}), **Label.from_text(table.workload).parameters}


def _parameter(report: Report, tables: Sequence[Table]) -> str | None:
    values = [_values(report, table) for table in tables]
    differ = [key for key in values[0] if len({value.get(key) for value in values}) > 1]
    one = len(differ) == 1 and all(value.get(differ[0], "").isdecimal() for value in values)
    return differ[0] if one else None


def _number(report: Report, table: Table, parameter: str) -> int:
    return int(_values(report, table)[parameter])


def _table(report: Report, series: Series) -> Iterator[str]:
    arms = report.results.arms
    others = [arm for arm in arms if arm != report.baseline]
    cost = " (Cost)" if series.costs else ""
    improved = ["Impr%"] if len(others) == 1 else [f"Impr% {arm}" for arm in others]
    rows = [[f"#{series.parameter}", *(f"{arm}{cost}" for arm in arms), *improved]]
    for number, table in series.tables.items():
        cells = [_time(table, series.costs.get(number), arm) for arm in arms]
        rows.append([str(number), *cells, *(_improvement(table, report.baseline, arm) for arm in others)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield GAP.join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _time(table: Table, cost: Table | None, arm: str) -> str:
    mean = table.find_mean(arm)
    if mean is None:
        return "-"
    each = cost.find_mean(arm) if cost is not None else None
    return f"{mean:.6f}" if each is None else f"{mean:.6f}({each:9.6f})"


def _improvement(table: Table, baseline: str, arm: str) -> str:
    base, mean = table.find_mean(baseline), table.find_mean(arm)
    return "-" if not base or mean is None else f"{100 * (base - mean) / base:.2f}%"


def _plot(report: Report, series: Series) -> Iterator[str]:
    """Yield the cost, or the metric itself, over the number: a letter for each arm."""
    tables = series.costs or series.tables
    points = {
        (number, mark): mean
        for mark, arm in zip(MARKS, report.results.arms, strict=False)
        for number, table in sorted(tables.items())
        if (mean := table.find_mean(arm)) is not None
    }
    if not points:
        return
    low, high = min(points.values()), max(points.values())
    least, most = min(tables), max(tables)
    grid = [[" "] * PLOT_WIDTH for _ in range(PLOT_HEIGHT)]
    for (number, mark), mean in points.items():
        row = round((PLOT_HEIGHT - 1) * (high - mean) / (high - low)) if high > low else 0
        column = round((PLOT_WIDTH - 1) * (number - least) / (most - least))
        grid[row][column] = mark if grid[row][column] in (" ", mark) else SEVERAL
    yield f"{next(iter(tables.values())).metric.title} over {series.parameter}"
    for number, line in enumerate(grid):
        label = {0: f"{high:.6f}", PLOT_HEIGHT - 1: f"{low:.6f}"}.get(number, "")
        yield f"{label:>12} |{''.join(line)}".rstrip()
    yield " " * 13 + "+" + "-" * PLOT_WIDTH
    yield " " * 14 + f"{least}{most:>{PLOT_WIDTH - len(str(least))}}"
    names = [f"{mark} {arm}" for mark, arm in zip(MARKS, report.results.arms, strict=False)]
    yield from wrap(", ".join([*names, f"{SEVERAL} several"]), WIDTH, " " * 14, " " * 14)
