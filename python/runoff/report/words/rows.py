"""The page's tables as rows of finished text."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from runoff.analysis.table import Table
from runoff.analysis.values import Overall, Report
from runoff.report.words.load_rows import Matrix
from runoff.report.words.numbers import (
    Scale,
    choose_percent_decimals,
    format_change,
    format_change_range,
    format_p,
    format_percent,
)
from runoff.statistics import Verdict

LARGEST_EFFECT = 1000.0
"""Above this many standard deviations digits say nothing."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One arm's change in one table."""

    change: str
    interval: str
    glyph: str
    word: str
    """Also the CSS class: a verdict's word, ``baseline`` or nothing."""


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One table in the summary grid; cells in plan order of the arms."""

    anchor: str
    place: str
    """The full label, shown as a tooltip."""
    short_place: str
    metric: str
    direction: str
    headline: bool
    size: float | None
    """The largest change in it, as a logarithm; None where none is relative."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One arm in one table."""

    arm: str
    n: str
    mean: str
    mean_interval: str
    sd: str
    cell: Cell
    p: str


def split_constants(report: Report) -> tuple[list[tuple[str, Table]], list[tuple[str, str]]]:
    """Return the tables that are shown, with their anchors; and place, title and value of those that say no more."""
    opened, constants = [], []
    for number, table in enumerate(report.tables, 1):
        if _is_constant(table):
            value = f"{table.points[0].value:.6g} {table.metric.unit}".rstrip()
            constants.append((f"{table.short_place}: {table.metric.title}", value))
        else:
            opened.append((f"t{number}", table))
    return opened, constants


def _is_constant(table: Table) -> bool:
    """Return whether a table says no more than one value: no headline metric, and the same in every run."""
    return not table.metric.headline and len({point.value for point in table.points}) == 1


def list_summary_rows(report: Report, opened: Sequence[tuple[str, Table]]) -> list[SummaryRow]:
    """Return the tables that are shown as rows, headline or not."""
    return [
        SummaryRow(
            anchor,
            table.place,
            table.short_place,
            table.metric.title,
            "" if table.metric.direction == "none" else f"{table.metric.direction} is better",
            table.metric.headline,
            _find_largest_change(table),
            tuple(
                _cell(table, arm, report.baseline, Scale.from_table(table), unit=True) for arm in report.results.arms
            ),
        )
        for anchor, table in opened
    ]


def _find_largest_change(table: Table) -> float | None:
    logs = [c.log_mean for c in table.analysis.comparisons.values() if c.log_mean is not None]
    return round(max(map(abs, logs)), 4) if logs else None


def list_result_rows(table: Table, baseline: str) -> list[ResultRow]:
    """Return one row for each arm, in the table's order."""
    scale = Scale.from_table(table)
    return [_result(table, arm, baseline, scale) for arm in table.arms]


def _result(table: Table, arm: str, baseline: str, scale: Scale) -> ResultRow:
    summary, comparison = table.analysis.summaries.get(arm), table.analysis.comparisons[arm]
    lost, centre = table.count_lost(arm), table.find_centre(arm)
    left_out = [f"{lost.void} void"] if lost.void else []
    left_out += [f"{lost.unmeasured} without a value"] if lost.unmeasured else []
    return ResultRow(
        arm=arm,
        n=f"{summary.n if summary else 0}" + (f" ({', '.join(left_out)})" if left_out else ""),
        mean=scale.plain(centre[0]) if centre else "",
        mean_interval=scale.range(centre[1]) if centre and centre[1] else "",
        sd=scale.plain(summary.sd) if summary and summary.sd is not None and not table.analysis.machines else "",
        cell=_cell(table, arm, baseline, scale),
        p="" if comparison.p is None else format_p(comparison.p),
    )


def _cell(table: Table, arm: str, baseline: str, scale: Scale, unit: bool = False) -> Cell:
    change, interval = describe_change(table, arm, scale, unit=unit)
    verdict = table.analysis.comparisons[arm].verdict
    if table.is_unmeasured(arm):
        return Cell("-", "", "", "")
    if verdict in (Verdict.VOID, Verdict.PENDING, Verdict.ABSENT):
        return Cell("", "", str(verdict), verdict.word)
    if arm == baseline:
        centre = table.find_centre(arm)
        shown = f"{scale.plain(centre[0])} {scale.unit}".strip() if unit and centre else "baseline"
        return Cell(shown, "", "", "baseline")
    return Cell(change, interval, str(verdict or ""), verdict.word if verdict else "")


def describe_change(table: Table, arm: str, scale: Scale, *, unit: bool = True) -> tuple[str, str]:
    """Return the change against the baseline and its interval, in percent if possible, else a difference."""
    comparison = table.analysis.comparisons[arm]
    decimals = choose_percent_decimals(table)
    if comparison.percent is not None:
        interval = comparison.percent_interval
        shown = format_change(comparison.percent, decimals)
        return shown, format_change_range(interval, comparison.percent, decimals) if interval else ""
    if comparison.difference is not None:
        interval = comparison.interval
        shown = scale.difference(comparison.difference) if unit else scale.signed(comparison.difference)
        return shown, scale.signed_range(interval) if interval else ""
    return "", ""


def list_quantile_rows(table: Table) -> list[tuple[str, ...]]:
    """Return arm, minimum, 10 %, 25 %, median, 75 %, 90 %, maximum; nothing for several machines."""
    scale, summaries = Scale.from_table(table), table.analysis.summaries
    known = [(arm, summaries[arm].quantiles) for arm in table.arms if arm in summaries]
    return [(arm, *map(scale.plain, astuple(quantiles))) for arm, quantiles in known if quantiles is not None]


def list_spread_rows(table: Table) -> list[tuple[str, ...]]:
    """Return `list_quantile_rows` with the interval of the median and the number of outliers."""
    scale, summaries = Scale.from_table(table), table.analysis.summaries
    rows: list[tuple[str, ...]] = []
    for row in list_quantile_rows(table):
        summary = summaries[row[0]]
        rows.append((*row, scale.range(summary.median_ci) if summary.median_ci else "", str(len(summary.outliers))))
    return rows


def list_comparison_rows(table: Table) -> list[tuple[str, ...]]:
    """Return arm, blocks, effect, smallest detectable change, share possibly unseen, correlation, p of the report."""
    scale = Scale.from_table(table)
    rows: list[tuple[str, ...]] = []
    for arm in table.arms:
        c = table.analysis.comparisons[arm]
        if not c.n:
            continue
        effect = "" if c.effect is None else f"{c.effect:+.2f}" if abs(c.effect) < LARGEST_EFFECT else "-"
        detectable = ""
        if c.detectable is not None:
            relative = c.percent is not None
            detectable = (
                f"{format_percent(c.detectable, 2)} %" if relative else f"{scale.plain(c.detectable)} {scale.unit}"
            )
        unseen = "" if c.unseen is None else f"{100 * c.unseen:.2g} %"
        correlation = "" if c.correlation is None else f"{c.correlation:+.2f}"
        p_report = "" if c.p_report is None else format_p(c.p_report)
        rows.append((arm, str(c.n), effect, detectable.lstrip("+"), unseen, correlation, p_report))
    return rows


def list_run_rows(report: Report, table: Table) -> list[tuple[str, ...]]:
    """Return block, and the value of each arm in plan order: the numbers of the figures."""
    scale = Scale.from_table(table)
    values = {(p.block, p.arm): scale.plain(p.value) for p in table.points}
    void = {(s.block, s.arm): "void" for s in table.voids}
    blocks = sorted({block for block, _ in (*values, *void)})
    arms = report.results.arms
    return [(str(b + 1), *(values.get((b, arm), void.get((b, arm), "")) for arm in arms)) for b in blocks]


def list_heat_rows(found: Matrix) -> list[tuple[str, ...]]:
    """Return load, and for each arm its mean, with the ratio to that arm alone."""
    rows: list[tuple[str, ...]] = []
    for load in found.tables:
        entries = [found.entries[load, arm] for arm in found.arms]
        cells = ["-" if e.mean is None else found.scale.plain(e.mean) for e in entries]
        ratios = ["" if e.ratio is None else f" ({e.ratio:.2f}x)" for e in entries]
        rows.append((load, *(cell + ratio for cell, ratio in zip(cells, ratios, strict=True))))
    return rows


def list_overall_rows(found: Overall) -> list[tuple[str, str, str, str]]:
    """Return arm, change, interval, p; an arm that has no block with all of them has dashes."""
    rows = []
    for arm, c in ({} if found.analysis is None else found.analysis.comparisons).items():
        if found.analysis is None or arm == found.analysis.question.baseline:
            continue
        change = "-" if c.percent is None else format_change(c.percent, 1)
        interval = format_change_range(c.percent_interval, c.percent or 0.0, 1) if c.percent_interval else ""
        rows.append((arm, change, interval, "" if c.p is None else format_p(c.p)))
    return rows
