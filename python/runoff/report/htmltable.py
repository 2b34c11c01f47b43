"""The page's tables as rows of finished text."""

from dataclasses import dataclass

from runoff.report.model import Report, Table
from runoff.report.numbers import Scale, p_text, percent_decimals, percent_range, percent_text
from runoff.statistics import Verdict


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
    metric: str
    direction: str
    headline: bool
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
    letters: str


def summary_rows(report: Report) -> list[SummaryRow]:
    """All tables, headline or not."""
    return [
        SummaryRow(
            f"t{number}",
            table.place,
            table.metric.title,
            "" if table.metric.direction == "none" else f"{table.metric.direction} is better",
            table.metric.headline,
            tuple(_cell(table, arm, report.baseline, Scale.of(table), unit=True) for arm in report.results.arms),
        )
        for number, table in enumerate(report.tables, 1)
    ]


def result_rows(table: Table, baseline: str) -> list[ResultRow]:
    """In the table's order."""
    scale = Scale.of(table)
    return [_result(table, arm, baseline, scale) for arm in table.arms]


def _result(table: Table, arm: str, baseline: str, scale: Scale) -> ResultRow:
    summary, comparison = table.analysis.summaries.get(arm), table.analysis.comparisons[arm]
    voids = table.voids_of(arm)
    return ResultRow(
        arm=arm,
        n=f"{summary.n if summary else 0}{f' ({voids} void)' if voids else ''}",
        mean=scale.plain(summary.mean) if summary else "",
        mean_interval=scale.range(summary.ci) if summary and summary.ci else "",
        sd=scale.plain(summary.sd) if summary and summary.sd is not None else "",
        cell=_cell(table, arm, baseline, scale),
        p="" if comparison.p is None else p_text(comparison.p),
        letters=table.analysis.letters.get(arm, ""),
    )


def _cell(table: Table, arm: str, baseline: str, scale: Scale, unit: bool = False) -> Cell:
    change, interval = change_of(table, arm, scale, f" {scale.unit}" if unit and scale.unit else "")
    verdict = table.analysis.comparisons[arm].verdict
    if arm in table.lacking:
        return Cell("-", "", "", "")
    if verdict is Verdict.VOID:
        return Cell("", "", str(verdict), verdict.word)
    if arm == baseline:
        summary = table.analysis.summaries[arm]
        return Cell(f"{scale.plain(summary.mean)} {scale.unit}".strip() if unit else "baseline", "", "", "baseline")
    return Cell(change, interval, str(verdict or ""), verdict.word if verdict else "")


def change_of(table: Table, arm: str, scale: Scale, unit: str) -> tuple[str, str]:
    """Against the baseline with its interval: in percent where that means something, else with ``unit``."""
    comparison = table.analysis.comparisons[arm]
    decimals = percent_decimals(table)
    if comparison.percent is not None:
        interval = comparison.percent_interval
        return f"{percent_text(comparison.percent, decimals)} %", percent_range(interval, decimals) if interval else ""
    if comparison.difference is not None:
        interval = comparison.interval
        return f"{scale.signed(comparison.difference)}{unit}", scale.signed_range(interval) if interval else ""
    return "", ""


def quantile_rows(table: Table) -> list[tuple[str, ...]]:
    """Arm, minimum, 10 %, 25 %, median, 75 %, 90 %, maximum."""
    scale = Scale.of(table)
    known = [table.analysis.summaries[arm] for arm in table.arms if arm in table.analysis.summaries]
    return [(s.arm, *map(scale.plain, (s.minimum, s.q10, s.q25, s.median, s.q75, s.q90, s.maximum))) for s in known]


def unpooled(table: Table) -> bool:
    """Whether the pairs were tested without pooling too."""
    return any(pair.p_unpooled is not None for pair in table.analysis.pairs)


def pair_rows(table: Table) -> list[tuple[str, ...]]:
    """Pair, difference, interval, p by Tukey-Kramer, p by Games-Howell if ``unpooled``, separated or not."""
    scale = Scale.of(table)
    also = unpooled(table)
    rows = []
    for pair in table.analysis.pairs:
        interval = scale.signed_range(pair.interval) if pair.interval else ""
        p, p_unpooled = ("" if p is None else p_text(p) for p in (pair.p, pair.p_unpooled))
        start = (f"{pair.second} - {pair.first}", scale.signed(pair.difference), interval, p)
        rows.append((*start, *([p_unpooled] if also else []), "separated" if pair.separated else ""))
    return rows
