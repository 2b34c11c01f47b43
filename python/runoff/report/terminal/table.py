"""One metric's table in text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from runoff.analysis.table import Table
from runoff.report.words import wording
from runoff.report.words.layout import cut_middle, find_distinct_width, wrap
from runoff.report.words.numbers import Scale, choose_percent_decimals, format_change, format_change_range, format_p
from runoff.statistics import Verdict

STYLES = {Verdict.BETTER: "bold dodger_blue2", Verdict.WORSE: "bold color(130)", Verdict.VOID: "bright_black"}
"""Blue and orange are told apart by every kind of colour vision; only separated differences get one."""

SHORTEST_NAME = 20
INDENT = "  "
GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """One column of text; ``expendable`` columns go first, highest number first, when room is short."""

    title: str
    cells: tuple[str, ...]
    expendable: int = 0
    coloured: bool = False
    left: bool = False

    @property
    def width(self) -> int:
        """Characters of the widest cell."""
        return max(len(cell) for cell in (self.title, *self.cells))

    def put(self, cell: str) -> str:
        """Return ``cell`` aligned to the column's width."""
        return cell.ljust(self.width) if self.left else cell.rjust(self.width)


def render_rows(table: Table, baseline: str, width: int) -> Iterator[Text]:
    """Yield heading, column titles and one line per arm, none longer than ``width``."""
    heading = f"{wording.render_short_heading(table)} ({wording.describe_unit_and_direction(table)})"
    yield from (Text(line, style="bold") for line in wrap(heading, width, "", INDENT))
    verdicts = [table.analysis.comparisons[arm].verdict for arm in table.arms]
    styles = [STYLES.get(verdict, "") if verdict else "" for verdict in verdicts]
    yield from render_columns(table.arms, _columns(table, baseline, Scale.from_table(table)), width, styles)


def render_columns(
    arms: Sequence[str], wanted: list[Column], width: int, styles: Sequence[str] = (), title: str = "arm"
) -> Iterator[Text]:
    """Yield titles and one line per arm, none longer than ``width``; nothing without an arm.

    ``title`` is that of the names, which need not be arms.
    """
    if not arms:
        return
    longest = max(len(arm) for arm in (*arms, title))
    shortest = max(len(title), find_distinct_width(arms, SHORTEST_NAME, longest))
    chosen = fit_columns(wanted, width, shortest)
    name = min(longest, width - len(INDENT) - measure_columns(chosen))
    titles = "".join(GAP + column.put(column.title) for column in chosen)
    yield Text((INDENT + title.ljust(name) + titles).rstrip(), style="bright_black")
    for number, arm in enumerate(arms):
        line = Text(INDENT + cut_middle(arm, name).ljust(name))
        for column in chosen:
            style = styles[number] if styles and column.coloured else ""
            line.append(GAP + column.put(column.cells[number]), style=style)
        line.rstrip()
        yield line


def measure_columns(columns: list[Column]) -> int:
    """Return columns of text that they take, with their gaps."""
    return sum(column.width + len(GAP) for column in columns)


def fit_columns(columns: list[Column], width: int, name: int) -> list[Column]:
    """Leave out expendable columns until ``name`` letters and the rest have room."""
    while len(INDENT) + name + measure_columns(columns) > width:
        victim = max(columns, key=lambda column: column.expendable)
        if not victim.expendable:
            break
        columns = [column for column in columns if column is not victim]
    return columns


def _columns(table: Table, baseline: str, scale: Scale) -> list[Column]:
    summaries, comparisons = table.analysis.summaries, table.analysis.comparisons

    def cells(text: Callable[[str], str]) -> tuple[str, ...]:
        return tuple(text(arm) for arm in table.arms)

    centres = {arm: table.find_centre(arm) for arm in table.arms}

    def mean(arm: str) -> str:
        found = centres[arm]
        return "-" if found is None else scale.plain(found[0])

    def mean_interval(arm: str) -> str:
        found = centres[arm]
        return scale.range(found[1]) if found is not None and found[1] is not None else ""

    def n(arm: str) -> str:
        count = summaries[arm].n if arm in summaries else 0
        return f"{count}{'!' if table.count_lost(arm).count else ' '}"

    def median(arm: str) -> str:
        found = summaries[arm].quantiles if arm in summaries else None
        return "-" if found is None else scale.plain(found.median)

    def median_interval(arm: str) -> str:
        ci = summaries[arm].median_ci if arm in summaries else None
        return scale.range(ci) if ci else ""

    columns = [
        Column("n ", cells(n)),
        Column(wording.name_mean(table), cells(mean)),
        Column("95 % CI", cells(mean_interval), 5),
    ]
    if table.is_percentile and not table.analysis.machines:
        columns += [Column("median", cells(median), 4), Column("its 95 % CI", cells(median_interval), 5)]
        columns[2] = Column("95 % CI", cells(mean_interval), 6)
    if len(comparisons) == 1:
        return columns
    p = cells(lambda arm: "" if (value := comparisons[arm].p) is None else format_p(value))
    return [
        *columns,
        *_change(table, baseline, scale),
        Column("p(adj)", p, 2, coloured=True),
        Column(" ", cells(lambda arm: comparisons[arm].verdict or ""), coloured=True),
    ]


def _change(table: Table, baseline: str, scale: Scale) -> list[Column]:
    """Return percent where it means something, else the difference in the metric's unit."""
    comparisons, decimals = table.analysis.comparisons, choose_percent_decimals(table)
    in_units = not any(c.percent is not None for c in comparisons.values())
    changes, intervals = [], []
    for arm in table.arms:
        c = comparisons[arm]
        change = interval = ""
        if arm == baseline:
            change = "baseline"
        elif c.percent is not None:
            change = format_change(c.percent, decimals)
            interval = format_change_range(c.percent_interval, c.percent, decimals) if c.percent_interval else ""
        elif c.difference is not None:
            change = scale.signed(c.difference) if in_units else scale.difference(c.difference)
            interval = scale.signed_range(c.interval) if c.interval else ""
        changes.append(change)
        intervals.append(interval)
    title = "diff" if in_units and not table.analysis.is_relative else "change"
    return [
        Column(title, tuple(changes), coloured=True),
        Column("its 95 % CI", tuple(intervals), 3, coloured=True),
    ]
