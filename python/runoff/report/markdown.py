"""The report for a forge's issue or job summary: verdict, headline tables, the rest folded."""

from collections.abc import Iterator

from runoff.analysis import why
from runoff.analysis.table import Table
from runoff.analysis.values import Overall, Report
from runoff.report.words import why_rows, wording
from runoff.report.words.machine_rows import TITLES, describe_agreement, list_machine_rows
from runoff.report.words.rows import ResultRow, list_overall_rows, list_result_rows
from runoff.report.words.sentences import render_verdict
from runoff.report.words.warnings import describe_warnings
from runoff.text import escape_lines

HEAD = "| arm | n | mean | change | its 95 % CI | p(adj) | verdict |\n|---|--:|--:|--:|--:|--:|---|"
SPECIAL = str.maketrans({c: "\\" + c for c in "\\`*_[]<>|#"})


def render(report: Report) -> str:
    """Return the whole report; text from plans is escaped."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from (f"{escape(change)}\n" for change in report.results.changes)
    yield from (f"**{escape(sentence)}**\n" for sentence in render_verdict(report))
    yield escape(wording.describe_title(report).replace("  ", ", ")) + f"{wording.describe_seed(report)}\n"
    yield from (f"{escape(sentence)}\n" for sentence in report.results.account)
    for table in report.headline:
        yield from _table(table, report.baseline)
    if report.overall:
        yield from _overall(report.overall)
    if panels := why.build(report):
        yield f"<details><summary>Why</summary>\n\n{escape(wording.describe_why_note(panels))}\n"
        for panel in panels:
            yield from _panel(panel, report.baseline)
        yield "</details>\n"
    yield from (f"- {escape(line)}" for line in wording.list_notes(report))
    yield "\n<details><summary>Legend and rerun</summary>\n"
    yield from (f"{escape(line)}\n" for line in wording.list_legend(report))
    yield from (f"    {line}" for line in escape_lines(report.results.rerun).split("\n"))
    yield "\n</details>"


def _table(table: Table, baseline: str) -> Iterator[str]:
    rows = list_result_rows(table, baseline)
    yield f"{escape(wording.render_heading(table))} ({escape(wording.describe_unit_and_direction(table))})\n"
    yield HEAD.replace("mean", wording.name_mean(table))
    yield from (_row(row) for row in rows)
    yield ""
    if on_machines := list_machine_rows(table):
        yield "| " + " | ".join(TITLES) + " |\n|---|---|--:|--:|--:|--:|--:|--:|---|"
        yield from ("| " + " | ".join(escape(cell) for cell in row.cells) + " |" for row in on_machines)
        yield ""
    yield from (f"- {escape(line)}" for line in describe_agreement(table))
    yield from (f"- {escape(line)}" for line in (*wording.describe_unseen(table), *wording.describe_means(table)))
    yield from (f"- {escape(line)}" for line in wording.describe_heaps(table))
    yield from (f"- {escape(line)}" for line in describe_warnings(table.analysis))
    yield ""


def _overall(found: Overall) -> Iterator[str]:
    yield f"{escape(wording.render_overall_heading(found))}\n"
    if rows := list_overall_rows(found):
        yield "| arm | change | its 95 % CI | p(adj) |\n|---|--:|--:|--:|"
        yield from ("| " + " | ".join(escape(cell) for cell in row) + " |" for row in rows)
        yield ""


def _panel(panel: why.Explanation, baseline: str) -> Iterator[str]:
    yield f"{escape(wording.render_why_heading(panel))}\n"
    if panel.reasons:
        yield f"| counter | {escape(baseline)} | {escape(panel.arm)} | change | its 95 % CI | SDs |"
        yield "|---|--:|--:|--:|--:|--:|"
    for row in why_rows.list_rows(panel, baseline):
        cells = (row.title, row.baseline, row.mean, row.change, row.interval, row.size)
        yield "| " + " | ".join(escape(cell) for cell in cells) + " |"
    yield ""


def _row(row: ResultRow) -> str:
    verdict = f"{row.cell.glyph} {row.cell.word}" if row.cell.glyph else ""
    cells = (row.arm, row.n, row.mean, row.cell.change, row.cell.interval, row.p, verdict)
    return "| " + " | ".join(escape(cell) for cell in cells) + " |"


def escape(text: str) -> str:
    """Return ``text`` with nothing in it that Markdown would take for a sign."""
    return text.translate(SPECIAL)
