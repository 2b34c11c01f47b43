"""A history as a self-contained page."""

from markupsafe import Markup

from runoff.history.document import render_json
from runoff.history.figure import draw
from runoff.history.values import Change, History, Series
from runoff.history.wording import (
    LEGEND,
    describe_change,
    describe_differences,
    describe_heading,
    describe_left_out,
    describe_outcome,
    describe_title,
    list_columns,
)
from runoff.report.html.templating import embed_json, load_template


def render_page(history: History) -> str:
    """Return the page; same history, same bytes."""
    return load_template("history.html.j2").render(
        title=describe_title(history).replace("  ", ", "),
        outcome=list(describe_outcome(history)),
        series=[_describe_series(series) for series in history.series],
        warnings=history.warnings,
        legend=LEGEND,
        rerun=history.rerun,
        data=embed_json(render_json(history, indent=None)),
    )


def _describe_series(series: Series) -> dict[str, object]:
    titles, cells = zip(*list_columns(series), strict=True)
    firsts = {change.first for change in series.changes}
    return {
        "heading": describe_heading(series),
        "picture": Markup(draw(series)),
        "changes": [_describe_change(series, change) for change in series.changes],
        "left_out": describe_left_out(series),
        "titles": titles,
        "rows": [(number in firsts, row) for number, row in enumerate(zip(*cells, strict=True))],
    }


def _describe_change(series: Series, change: Change) -> dict[str, object]:
    return {"text": describe_change(series, change), "differences": list(describe_differences(change))}
