"""A sweep of sizes for a terminal, as a page, as JSON and CSV."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from runoff.errors import MissingError
from runoff.files import write_whole
from runoff.matrix.sizes import figure
from runoff.matrix.sizes.values import Cell, Group, SizeSweep, name_folder
from runoff.matrix.sizes.wording import (
    LEGEND,
    TITLES,
    describe_heading,
    describe_outcome,
    describe_title,
    list_cells,
    list_notes,
)
from runoff.report.data.json_text import dump, round_significant
from runoff.report.figures.svg import make_standalone
from runoff.report.html.templating import embed_json, load_template
from runoff.report.words.layout import cut_middle, wrap
from runoff.separated import render_rows
from runoff.statistics import Interval
from runoff.text import escape_line
from runoff.version import __version__

SCHEMA = "runoff.sizes/1"
"""Raised whenever a reader of the last version would misread this one."""

PAGE, TABLE, PICTURE = "sweep.html", "sweep.csv", "sweep-{number}.svg"
"""Files in the directory of a sweep."""

EXPENDABLE = (6, 1, 5)
"""Columns that go first where room is short."""


def render_text(sweep: SizeSweep, width: int) -> str:
    """Return the verdict, then a table for each arm and headline metric; no line is over ``width``."""
    return "\n".join(_list_lines(sweep, width)) + "\n"


def _list_lines(sweep: SizeSweep, width: int) -> Iterator[str]:
    yield from wrap(describe_title(sweep), width)
    yield ""
    label = "VERDICT  "
    for sentence in describe_outcome(sweep):
        yield from wrap(escape_line(sentence), width, label, " " * len(label))
        label = " " * len(label)
    for group in sweep.list_groups():
        for arm in sweep.arms:
            yield ""
            yield from wrap(escape_line(describe_heading(group, arm)), width)
            yield from _list_rows(list_cells(sweep, group, arm), width)
    notes = list(list_notes(sweep))
    if notes:
        yield ""
    for note in notes:
        yield from wrap(escape_line(note), width, "  ! ", "    ")
    yield ""
    yield from wrap(LEGEND, width)


def _list_rows(rows: list[tuple[str, ...]], width: int) -> Iterator[str]:
    places = list(range(len(TITLES)))
    for gone in (None, *EXPENDABLE):
        places = [place for place in places if place != gone]
        lines = [[row[place] for place in places] for row in (TITLES, *rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        if sum(widths) + 2 * len(widths) <= width:
            break
    for line in lines:
        cells = [cell.rjust(size) for cell, size in zip(line, widths, strict=True)]
        yield cut_middle(("  " + "  ".join(cells)).rstrip(), width)


def render_json(sweep: SizeSweep) -> str:
    """Return one document, keys in a fixed order."""
    return dump(
        {
            "schema": SCHEMA,
            "version": __version__,
            "engine": sweep.first.results.engine,
            "clock": sweep.first.results.clock,
            "cpus": list(sweep.sizes),
            "arms": list(sweep.first.results.arms),
            "baseline": sweep.first.baseline,
            "exit_code": sweep.exit_code,
            "verdict": list(describe_outcome(sweep)),
            "warnings": list(list_notes(sweep)),
            "comparisons": [_make_comparison(sweep, cell) for cell in _list_all(sweep)],
        }
    )


def _list_all(sweep: SizeSweep) -> Iterator[Cell]:
    for group in sweep.list_groups():
        for arm in sweep.arms:
            yield from group.list_cells(arm)


def _make_comparison(sweep: SizeSweep, cell: Cell) -> dict[str, Any]:
    comparison, table = cell.comparison, cell.table
    return {
        "cpus": cell.cpus,
        "campaign": name_folder(cell.cpus),
        "workload": table.workload,
        "load": table.load,
        "metric": table.metric.name,
        "unit": table.metric.unit,
        "direction": table.metric.direction,
        "arm": cell.arm,
        "blocks": comparison.n,
        "void": table.count_lost(cell.arm).void,
        "baseline_mean": _round(table.find_mean(sweep.first.baseline)),
        "mean": _round(table.find_mean(cell.arm)),
        "change_percent": _round(comparison.percent),
        "interval_percent": _round_interval(comparison.percent_interval),
        "p": _round(comparison.p),
        "verdict": comparison.verdict.word if comparison.verdict else None,
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round_significant(value)


def _round_interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round_significant(interval.low), round_significant(interval.high)]


def render_csv(sweep: SizeSweep) -> str:
    """Return a row for each comparison, with the columns of the JSON."""
    rows = [_flatten(_make_comparison(sweep, cell)) for cell in _list_all(sweep)]
    return render_rows([list(rows[0]), *(list(row.values()) for row in rows)] if rows else [])


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    low, high = row.pop("interval_percent") or (None, None)
    return {**row, "low_percent": low, "high_percent": high}


def render_page(sweep: SizeSweep) -> str:
    """Return the page; same sweep, same bytes."""
    return load_template("sizes.html.j2").render(
        title=describe_title(sweep),
        outcome=list(describe_outcome(sweep)),
        notes=list(list_notes(sweep)),
        legend=LEGEND,
        titles=TITLES,
        groups=[_describe_group(sweep, group) for group in sweep.list_groups()],
        pages=[(cpus, f"{name_folder(cpus)}/report.html") for cpus in sorted(sweep.reports)],
        data=embed_json(render_json(sweep)),
    )


def _describe_group(sweep: SizeSweep, group: Group) -> dict[str, Any]:
    return {
        "heading": f"{group.heading}: {group.metric.title}",
        "picture": Markup(figure.draw(sweep, group)),
        "tables": [(describe_heading(group, arm), list_cells(sweep, group, arm)) for arm in sweep.arms],
    }


def write_views(sweep: SizeSweep, directory: Path) -> None:
    """Write the page, the pictures and the table into ``directory``, each whole or not at all. Raises MissingError."""
    pictures = [picture for group in sweep.list_groups() if (picture := figure.draw(sweep, group))]
    files = {PAGE: render_page(sweep), TABLE: render_csv(sweep)}
    files |= {PICTURE.format(number=number): make_standalone(picture) for number, picture in enumerate(pictures, 1)}
    for name, text in files.items():
        try:
            write_whole(directory / name, text.encode())
        except OSError as error:
            raise MissingError(
                f"cannot write {directory / name}: {error.strerror}; every sample is kept: give the same command again"
            ) from None
