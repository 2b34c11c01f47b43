"""Each figure of a report as a file of its own."""

import re
from collections.abc import Iterator

from runoff.analysis.values import Report
from runoff.report.figures import disk_times, forest, heat
from runoff.report.figures import timeline as disk
from runoff.report.figures.svg import make_standalone
from runoff.report.figures.tables import draw_responses, draw_table
from runoff.report.words import load_rows, wording
from runoff.report.words.rows import split_constants

LONGEST_NAME = 80


def draw_figures(report: Report) -> dict[str, str]:
    """Return the SVG of each figure that the page has, by the name of its file. Raises UsageError for a damaged log."""
    figures: dict[str, str] = {}
    for about, kind, picture in _draw(report):
        if picture:
            figures[_name(about, kind, figures)] = make_standalone(picture, len(report.results.arms))
    return figures


def _draw(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yield what each figure shows, its kind where that has several, and the picture; empty for nothing to draw."""
    yield "forest", "", forest.draw(report)
    for each in load_rows.build(report):
        yield f"loads {each.subject}", "", heat.draw(each)
    for table, picture in draw_responses(report):
        yield f"sweep {wording.render_short_heading(table)}", "", picture
    machines = report.split_machines()
    for table in (table for _, table in split_constants(report)[0]):
        for name, own in machines.items():
            heading = wording.render_short_heading(table)
            pictures = draw_table(own, table.select_machine(name) if name else table)
            yield heading, f"{name} values", pictures.distribution
            yield heading, f"{name} order", pictures.order
            yield heading, f"{name} tail", pictures.tail
    for drawn in disk_times.build(report):
        yield f"disk {drawn.caption}", "", disk.draw(drawn)


def _name(about: str, kind: str, taken: dict[str, str]) -> str:
    """Return a name of letters, digits and dashes that is not ``taken``; what is too long is cut before its kind."""
    start, end = (re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") for text in (about, kind))
    end = end[-LONGEST_NAME // 2 :]
    plain = f"{start[: LONGEST_NAME - len(end)]}-{end}".strip("-")
    number = 1
    while (name := f"{plain}{f'-{number}' if number > 1 else ''}.svg") in taken:
        number += 1
    return name
