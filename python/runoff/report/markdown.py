"""The report for a forge's issue or job summary: verdict, headline tables, the rest folded."""

from collections.abc import Iterator

from runoff.analysis import why
from runoff.analysis.table import Table
from runoff.analysis.values import Overall, Report
from runoff.report import whytable, wording
from runoff.report.html.table import ResultRow, list_overall_rows, list_result_rows
from runoff.report.sentences import render_verdict
from runoff.report.warnings import describe_warnings
from runoff.text import escape_lines

HEAD = "| arm | n | mean | change | its 95 % CI | p(adj) | verdict |\n|---|--:|--:|--:|--:|--:|---|"
SPECIAL = str.maketrans({c: "\\" + c for c in "\\`*_[]<>|#"})


def render(report: Report) -> str:
    """Return the whole report; text from plans is escaped."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from (f"{_safe(change)}\n" for change in report.results.changes)
    yield from (f"**{_safe(sentence)}**\n" for sentence in render_verdict(report))
    yield _safe(wording.describe_title(report).replace("  ", ", ")) + f", order seed {report.results.seed}\n"
    for table in report.headline:
        yield from _table(table, report.baseline)
    if report.overall:
        yield from _overall(report.overall)
    if panels := why.build(report):
        yield f"<details><summary>Why</summary>\n\n{_safe(wording.describe_why_note(panels))}\n"
        for panel in panels:
            yield from _panel(panel, report.baseline)
        yield "</details>\n"
    yield from (f"- {_safe(line)}" for line in wording.list_notes(report))
    yield "\n<details><summary>Legend and rerun</summary>\n"
    yield from (f"{_safe(line)}\n" for line in wording.list_legend(report))
    yield from (f"    {line}" for line in escape_lines(report.results.rerun).split("\n"))
    yield "\n</details>"


def _table(table: Table, baseline: str) -> Iterator[str]:
    rows = list_result_rows(table, baseline)
    yield f"{_safe(wording.render_heading(table))} ({_safe(wording.describe_unit_and_direction(table))})\n"
    yield HEAD
    yield from (_row(row) for row in rows)
    yield ""
    yield from (f"- {_safe(line)}" for line in wording.describe_unseen(table))
    yield from (f"- {_safe(line)}" for line in describe_warnings(table.analysis))
    yield ""


def _overall(found: Overall) -> Iterator[str]:
    yield f"{_safe(wording.render_overall_heading(found))}\n"
    if rows := list_overall_rows(found):
        yield "| arm | change | its 95 % CI | p(adj) |\n|---|--:|--:|--:|"
        yield from ("| " + " | ".join(_safe(cell) for cell in row) + " |" for row in rows)
        yield ""


def _panel(panel: why.Explanation, baseline: str) -> Iterator[str]:
    yield f"{_safe(wording.render_why_heading(panel))}\n"
    if panel.reasons:
        yield f"| counter | {_safe(baseline)} | {_safe(panel.arm)} | change | its 95 % CI | SDs |"
        yield "|---|--:|--:|--:|--:|--:|"
    for row in whytable.list_rows(panel, baseline):
        cells = (row.title, row.baseline, row.mean, row.change, row.interval, row.size)
        yield "| " + " | ".join(_safe(cell) for cell in cells) + " |"
    yield ""


def _row(row: ResultRow) -> str:
    verdict = f"{row.cell.glyph} {row.cell.word}" if row.cell.glyph else ""
    cells = (row.arm, row.n, row.mean, row.cell.change, row.cell.interval, row.p, verdict)
    return "| " + " | ".join(_safe(cell) for cell in cells) + " |"


def _safe(text: str) -> str:
    return text.translate(SPECIAL)
