"""The panels of `why` in text."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from runoff.analysis.why import Explanation
from runoff.report.terminal.table import GAP, INDENT, Column, fit_columns, measure_columns
from runoff.report.words import why_rows, wording
from runoff.report.words.layout import cut_middle, wrap

MOST_PANELS = 4
"""More of them hide the tables; the page has all."""

SHORTEST_TITLE = 16


def render_rows(panels: Sequence[Explanation], baseline: str, width: int) -> Iterator[Text]:
    """Yield heading, a line for each counter, and what to think of it; none longer than ``width``."""
    for panel in panels[:MOST_PANELS]:
        yield Text()
        yield from _panel(panel, baseline, width)
    if panels:
        more = len(panels) - MOST_PANELS
        text = f" {more} more of these are in the page (--html)." if more > 0 else ""
        yield from (
            Text(line, style="bright_black")
            for line in wrap(wording.describe_why_note(panels) + text, width, INDENT, INDENT)
        )


def _panel(panel: Explanation, baseline: str, width: int) -> Iterator[Text]:
    yield from (Text(line, style="bold") for line in wrap(wording.render_why_heading(panel), width, "", INDENT))
    found = why_rows.list_rows(panel, baseline)
    if not found:
        return
    columns = [
        Column(cut_middle(baseline, 20), tuple(row.baseline for row in found), 2),
        Column(cut_middle(panel.arm, 20), tuple(row.mean for row in found), 1),
        Column("change", tuple(row.change for row in found)),
        Column("its 95 % CI", tuple(row.interval for row in found), 3),
        Column("SDs", tuple(row.size for row in found)),
    ]
    columns = fit_columns(columns, width, SHORTEST_TITLE)
    longest = max(len(row.title) for row in found)
    title = min(longest, width - len(INDENT) - measure_columns(columns))
    head = "".join(GAP + column.put(column.title) for column in columns)
    yield Text((INDENT + "counter".ljust(title) + head).rstrip(), style="bright_black")
    for number, row in enumerate(found):
        cells = "".join(GAP + column.put(column.cells[number]) for column in columns)
        yield Text((INDENT + cut_middle(row.title, title).ljust(title) + cells).rstrip())
