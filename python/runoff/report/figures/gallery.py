"""Each figure of a report as a file of its own."""

import re
from collections.abc import Iterator

from runoff.analysis.values import Report
from runoff.report import matrix, timeline, wording
from runoff.report.figures import forest, heat
from runoff.report.figures import timeline as disk
from runoff.report.figures.svg import make_standalone
from runoff.report.figures.tables import draw_responses, draw_table
from runoff.report.html.table import split_constants

LONGEST_NAME = 80


def draw_figures(report: Report) -> dict[str, str]:
    """Return the SVG of each figure that the page has, by the name of its file. Raises UsageError for a damaged log."""
    figures: dict[str, str] = {}
    for about, picture in _draw(report):
        if picture:
            figures[_name(about, figures)] = make_standalone(picture, len(report.results.arms))
    return figures


def _draw(report: Report) -> Iterator[tuple[str, str]]:
    """Yield what each figure shows, and the picture; empty where there is nothing to draw."""
    yield "forest", forest.draw(report)
    for each in matrix.build(report):
        yield f"loads {each.subject}", heat.draw(each)
    for table, picture in draw_responses(report):
        yield f"sweep {wording.render_short_heading(table)}", picture
    for table in (table for _, table in split_constants(report)[0]):
        heading = wording.render_short_heading(table)
        pictures = draw_table(report, table)
        yield f"{heading} values", pictures.distribution
        yield f"{heading} order", pictures.order
        yield f"{heading} tail", pictures.tail
    for drawn in timeline.build(report):
        yield f"disk {drawn.caption}", disk.draw(drawn)


def _name(about: str, taken: dict[str, str]) -> str:
    """Return a name of letters, digits and dashes that is not ``taken``."""
    plain = re.sub(r"[^a-z0-9]+", "-", about.lower()).strip("-")[:LONGEST_NAME]
    number = 1
    while (name := f"{plain}{f'-{number}' if number > 1 else ''}.svg") in taken:
        number += 1
    return name
