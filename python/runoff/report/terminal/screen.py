"""The report for a terminal: ASCII, never wider than asked, complete without colour."""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from runoff.analysis import why
from runoff.analysis.environment import SEVERAL, describe_machine, summarise_facts
from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.report.figures import disk_times
from runoff.report.terminal import forest
from runoff.report.terminal import matrix as matrixtext
from runoff.report.terminal import why as whytext
from runoff.report.terminal.table import Column, render_columns, render_rows
from runoff.report.words import load_rows, wording
from runoff.report.words.layout import cut_middle, wrap, wrap_command, wrap_commands
from runoff.report.words.machine_rows import describe_agreement
from runoff.report.words.next_steps import NextStep
from runoff.report.words.rows import list_overall_rows
from runoff.report.words.sentences import render_verdict
from runoff.report.words.warnings import describe_warnings
from runoff.text import escape_lines

NARROWEST = 40


def render(
    report: Report,
    width: int = 80,
    colour: bool = False,
    *,
    mail: bool = False,
    verbose: bool = False,
    height: int | None = None,
    next_steps: Sequence[NextStep] = (),
) -> str:
    """Render the report, no line longer than ``width`` (at least 40).

    ``verbose`` adds the method, the machine, and what else only the page has; a ``mail`` has that in full. A report
    with more lines than ``height`` has the verdict at its end once more, below ``next_steps``.
    """
    width = max(width, NARROWEST)
    lines = [*_lines(report, width, verbose=verbose, mail=mail), *_next(next_steps, width)]
    if height is not None and len(lines) > height:
        lines += [Text(), *_verdict(report, width)]
    return render_lines(lines, width, colour)


def render_lines(lines: Iterable[Text], width: int, colour: bool) -> str:
    """Return lines as a terminal shows them, cut at ``width``."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="256" if colour else None,
        no_color=not colour,
        legacy_windows=False,
    )
    for line in lines:
        if line.cell_len > width:
            line.truncate(width)
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    return out.getvalue()


def wants_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether to use colour: only on a terminal, and never with NO_COLOR set to anything."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def _lines(report: Report, width: int, *, verbose: bool, mail: bool) -> Iterator[Text]:
    yield from _head(report, width)
    yield from _forest(report, width)
    said: set[str] = set()
    for table in report.headline:
        yield Text()
        yield from render_rows(table, report.baseline, width)
        yield from _machines(table, width)
        yield from _plain(line for note in wording.describe_unseen(table) for line in wrap(note, width, "  = ", "    "))
        for note in (*wording.describe_means(table), *wording.describe_heaps(table)):
            yield from _plain(wrap(note, width, "  * ", "    "))
        for sentence in describe_warnings(table.analysis):
            if sentence not in said:
                yield from _note(sentence, width)
            said.add(sentence)
    yield from _overall(report, width)
    for each in load_rows.build(report):
        yield Text()
        yield from matrixtext.render_rows(each, width)
    yield from whytext.render_rows(why.build(report), report.baseline, width)
    yield from _notes(report, width)
    yield from _describe_machine(report, width, mail)
    if not verbose and not mail:
        yield from _foot(report, width)
        return
    yield from _describe_order(report, width, mail)
    yield from _rest(report, width)
    yield from _legend(report, width)
    if mail:
        for line in wording.describe_method(report):
            yield Text()
            yield from _plain(wrap(line.replace("±", "+-"), width))


def _head(report: Report, width: int) -> Iterator[Text]:
    title = wording.describe_title(report)
    # On one line with its double spaces where it fits.
    lines = [title] if len(title) <= width else wrap(title.replace("  ", ", "), width)
    yield from (Text(line, style="bold") for line in lines)
    for sentence in report.results.account:
        yield from _plain(wrap(escape_lines(sentence), width))
    yield Text()
    for change in report.results.changes:
        yield from _note(change, width)
    yield from _verdict(report, width)


def _verdict(report: Report, width: int) -> Iterator[Text]:
    for number, sentence in enumerate(render_verdict(report)):
        label = "VERDICT  " if number == 0 else " " * 9
        yield from (Text(line, style="bold") for line in wrap(sentence, width, label, " " * 9))


def _forest(report: Report, width: int) -> Iterator[Text]:
    lines = list(forest.render_rows(report, width))
    if lines:
        yield Text()
        yield from lines


def _machines(table: Table, width: int) -> Iterator[Text]:
    """Yield on which machines an arm is better and worse; nothing for a campaign of one machine."""
    yield from _plain(line for note in describe_agreement(table) for line in wrap(note, width, "  * ", "    "))


def _overall(report: Report, width: int) -> Iterator[Text]:
    """Yield a line for each arm, or why there is none."""
    if report.overall is None:
        return
    yield Text()
    yield from (Text(line, style="bold") for line in wrap(wording.render_overall_heading(report.overall), width))
    yield from render_columns(
        [row[0] for row in list_overall_rows(report.overall)],
        [
            Column(title, tuple(row[place] for row in list_overall_rows(report.overall)), expendable)
            for place, (title, expendable) in enumerate((("change", 0), ("its 95 % CI", 1), ("p(adj)", 2)), 1)
        ],
        width,
    )


def _describe_machine(report: Report, width: int, mail: bool) -> Iterator[Text]:
    fingerprint = report.results.fingerprint
    facts = describe_machine(fingerprint) | {
        f"machine {name}": summarise_facts(fingerprint.get("machines", {}), name) for name in report.results.machines
    }
    if any(facts.values()):
        yield Text()
    for name, text in facts.items():
        if text:
            yield from _fact(name, text, width, is_whole=mail or text.startswith(SEVERAL))


def _fact(name: str, text: str, width: int, *, is_whole: bool) -> Iterator[Text]:
    if is_whole:
        yield from _plain(wrap(text, width, f"{name:8} ", " " * 9))
    else:
        yield Text(cut_middle(f"{name:8} {text}", width))


def _describe_order(report: Report, width: int, mail: bool) -> Iterator[Text]:
    yield from _fact("order", wording.describe_order(report), width, is_whole=mail)
    yield from _plain(wrap_commands(escape_lines(report.results.rerun), width, "rerun    "))


def _rest(report: Report, width: int) -> Iterator[Text]:
    others = dict.fromkeys(table.metric.title for table in report.tables if table.points and not table.metric.headline)
    if others:
        yield Text()
        yield from _plain(wrap(f"Not shown here but in the page (--html) and in --json: {', '.join(others)}.", width))
    if drawn := wording.describe_timelines(disk_times.count(report)):
        yield Text()
        yield from _plain(wrap(drawn, width))


def _notes(report: Report, width: int) -> Iterator[Text]:
    if notes := wording.list_notes(report):
        yield Text()
    for line in notes:
        yield from _note(line, width)


def _foot(report: Report, width: int) -> Iterator[Text]:
    """Yield the glyphs, and where to find the rest."""
    yield Text()
    legend, mark = wording.list_legend(report)[0].rstrip("."), wording.describe_void_mark(report)
    legend = f"{legend}." if mark.strip(" .") in legend else f"{legend}.{mark}"
    text = f"{legend} --verbose has the method, how to repeat it, and what is not shown here."
    yield from (Text(line, style="bright_black") for line in wrap(text, width))


def _next(steps: Sequence[NextStep], width: int) -> Iterator[Text]:
    if steps:
        yield Text()
    for step in steps:
        yield from _plain(wrap(step.text, width, "", "  "))
        if step.command:
            yield from _plain(wrap_command(step.command, width, "  "))


def _legend(report: Report, width: int) -> Iterator[Text]:
    yield Text()
    yield from (Text(line, style="bright_black") for text in wording.list_legend(report) for line in wrap(text, width))


def _note(text: str, width: int) -> Iterator[Text]:
    yield from _plain(wrap(text, width, "  ! ", "    "))


def _plain(lines: Iterable[str]) -> Iterator[Text]:
    yield from (Text(line) for line in lines)
