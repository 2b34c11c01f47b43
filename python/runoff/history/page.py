"""A history as a self-contained page."""

from markupsafe import Markup

from runoff.history.document import render_json
from runoff.history.figure import draw
from runoff.history.values import Change, History, Series
from runoff.history.wording import (
    LEGEND,
    choose_scale,
    describe_change,
    describe_differences,
    describe_heading,
    describe_left_out,
    describe_outcome,
    describe_title,
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
    return {
        "heading": describe_heading(series),
        "picture": Markup(draw(series)),
        "changes": [_describe_change(series, change) for change in series.changes],
        "left_out": describe_left_out(series),
        "mean": "geo. mean" if series.is_relative else "mean",
        "has_commits": any(entry.place.commit for entry in series.entries),
        "rows": _list_rows(series),
    }


def _describe_change(series: Series, change: Change) -> dict[str, object]:
    return {"text": describe_change(series, change), "differences": list(describe_differences(change))}


def _list_rows(series: Series) -> list[tuple[bool, tuple[str, ...]]]:
    """Return of each campaign whether a new level begins with it, and its cells."""
    scale = choose_scale(series)
    firsts = {change.first for change in series.changes}
    rows: list[tuple[bool, tuple[str, ...]]] = []
    for number, entry in enumerate(series.entries):
        mean, ci = series.find_centre(entry)
        place = entry.place
        cells = (str(entry.summary.n), scale.plain(mean), scale.range(ci) if ci else "")
        rows.append((number in firsts, (place.campaign, place.day, place.commit, *cells)))
    return rows
