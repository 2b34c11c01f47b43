"""The report for a terminal: ASCII, never wider than asked, complete without colour."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from rich.console import Console
from rich.text import Text

from runoff.report import matrix, matrixtext, timeline, why, whytext, wording
from runoff.report.environment import brief
from runoff.report.layout import cut_middle, wrap, wrap_command
from runoff.report.model import Report
from runoff.report.texttable import rows

NARROWEST = 40


def render(report: Report, width: int = 80, colour: bool = False) -> str:
    """The whole report, no line longer than ``width`` (at least 40) columns."""
    width = max(width, NARROWEST)
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="256" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )
    for line in _lines(report, width):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    return out.getvalue()


def wants_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Only on a terminal, and never with NO_COLOR set to anything (its own convention)."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def _lines(report: Report, width: int) -> Iterator[Text]:
    yield from _head(report, width)
    said: set[str] = set()
    for table in report.headline:
        yield Text()
        yield from rows(table, report.baseline, width)
        for warning in table.analysis.warnings:
            if warning.text not in said:
                yield from _note(warning.text, width)
            said.add(warning.text)
    for each in matrix.build(report):
        yield Text()
        yield from matrixtext.rows(each, width)
    yield from whytext.rows(why.build(report), report.baseline, width)
    yield from _rest(report, width)
    yield from _foot(report, width)


def _head(report: Report, width: int) -> Iterator[Text]:
    yield Text(cut_middle(wording.title(report), width), style="bold")
    yield Text()
    for number, sentence in enumerate(report.sentences):
        label = "VERDICT  " if number == 0 else " " * 9
        yield from (Text(line, style="bold") for line in wrap(sentence, width, label, " " * 9))
    yield Text()
    for name in ("machine", "kernel"):
        if facts := brief(report.results.fingerprint, name):
            yield Text(cut_middle(f"{name:8} {facts}", width))
    yield Text(cut_middle(f"order    {wording.order(report)}", width))
    yield from (Text(line) for line in wrap_command(report.results.rerun, width, "rerun    "))


def _rest(report: Report, width: int) -> Iterator[Text]:
    others = dict.fromkeys(table.metric.title for table in report.tables if table.points and not table.metric.headline)
    if others:
        yield Text()
        yield from _plain(wrap(f"Not shown here but in the page (--html) and in --json: {', '.join(others)}.", width))
    if drawn := wording.timelines(timeline.count(report)):
        yield Text()
        yield from _plain(wrap(drawn, width))
    if report.voids or report.warnings:
        yield Text()
    for line in wording.notes(report):
        yield from _note(line, width)


def _foot(report: Report, width: int) -> Iterator[Text]:
    yield Text()
    yield from (Text(line, style="bright_black") for text in wording.legend(report) for line in wrap(text, width))


def _note(text: str, width: int) -> Iterator[Text]:
    yield from _plain(wrap(text, width, "  ! ", "    "))


def _plain(lines: Iterable[str]) -> Iterator[Text]:
    yield from (Text(line) for line in lines)
