"""The classic analysis in text: means with a pooled SD, quantiles, analysis of variance, Tukey-Kramer, letters.

What JMP's "Oneway" printed and the reports of 2012 showed. It has no verdicts, and knows no blocks.
"""

from collections.abc import Iterator, Sequence

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.words import wording
from runoff.report.words.layout import wrap
from runoff.report.words.numbers import Scale, format_p
from runoff.report.words.rows import list_quantile_rows
from runoff.statistics import Classic, analyse_classic

WIDTH = 80
"""Columns that sentences take; tables are as wide as they must be."""

GAP = "  "
INDENT = "  "

ABOUT = (
    "Classic analysis, without verdicts: arms are the only factor, blocks are left out and all arms share one SD. "
    "Intervals of means are from that pooled SD; pairs are Tukey-Kramer's, beside them Games-Howell's p without "
    "pooling; arms that share a letter (grp) are not separated. The report without --table says which differences "
    "are real."
)


def render(report: Report) -> str:
    """Return all headline metrics, judged or not; ASCII."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield wording.describe_title(report)
    yield from wrap(ABOUT, WIDTH)
    for table in report.headline:
        yield ""
        yield from _table(table, analyse_classic(table.analysis))
    if notes := wording.list_notes(report):
        yield ""
    for line in notes:
        yield from wrap(line, WIDTH, "! ", "  ")


def _table(table: Table, found: Classic) -> Iterator[str]:
    test = _f_test(found)
    yield f"{wording.render_heading(table)} ({wording.describe_unit_and_direction(table)})" + (
        f"  {test}" if test else ""
    )
    yield from _columns(("arm", "n", "mean", "95 % CI", "SD", "grp"), _means(table, found))
    titles = ("quantiles", "minimum", "10 %", "25 %", "median", "75 %", "90 %", "maximum")
    yield from _columns(titles, list_quantile_rows(table))
    if found.pairs:
        yield from _columns(("pair", "difference", "95 % CI", "p(adj)", "p(GH)", ""), _pairs(table, found))


def _f_test(found: Classic) -> str:
    """Return the analysis of variance in short; empty if there was none."""
    anova = found.anova
    if anova is None or anova.f is None or anova.p is None:
        return ""
    f = f"{anova.f:.1f}" if anova.f < 1e4 else f"{anova.f:.1e}"
    p = format_p(anova.p)
    return f"F({anova.df_between},{anova.df_within})={f} p{p if p.startswith('<') else '=' + p}"


def _means(table: Table, found: Classic) -> list[tuple[str, ...]]:
    scale, summaries = Scale.from_table(table), table.analysis.summaries
    rows: list[tuple[str, ...]] = []
    for arm in table.arms:
        s = summaries.get(arm)
        if s is None:
            rows.append((arm, "0", "-", "", "", ""))
            continue
        interval = scale.range(found.intervals[arm]) if arm in found.intervals else ""
        sd = "" if s.sd is None else scale.plain(s.sd)
        rows.append((arm, str(s.n), scale.plain(s.mean), interval, sd, found.letters.get(arm, "")))
    return rows


def _pairs(table: Table, found: Classic) -> list[tuple[str, ...]]:
    scale = Scale.from_table(table)
    rows: list[tuple[str, ...]] = []
    for pair in found.pairs:
        interval = scale.signed_range(pair.interval) if pair.interval else ""
        p, unpooled = ("" if p is None else format_p(p) for p in (pair.p, pair.p_unpooled))
        name = f"{pair.second} - {pair.first}"
        rows.append((name, scale.signed(pair.difference), interval, p, unpooled, "separated" if pair.separated else ""))
    return rows


def _columns(titles: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Lay out columns: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    left = [place == 0 or title in ("", "grp") for place, title in enumerate(titles)]
    for row in (titles, *rows):
        cells = [
            cell.ljust(width) if flush else cell.rjust(width)
            for cell, width, flush in zip(row, widths, left, strict=True)
        ]
        yield (INDENT + GAP.join(cells)).rstrip()
