"""A scheduler's counters on standard output: a table that stays live on a terminal, quiet lines elsewhere."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from runoff.cli.output import echo
from runoff.engines.control import Watch

Reading = Mapping[str, Any]
Statistics = Sequence[Mapping[str, str]]

_GAP = 2
"""Spaces between the columns of a table."""


def follow(watch: Watch, as_json: bool, when_begun: Callable[[], None] = lambda: None) -> None:
    """Show every reading until Ctrl-C or until the scheduler has gone, and end the watch.

    ``when_begun`` is called once, when the first reading is there.

    Raises RunoffError with the reason when it has gone.
    """
    try:
        with contextlib.suppress(KeyboardInterrupt):
            console = Console(highlight=False)
            readings = _announce(watch, when_begun)
            if not as_json and console.is_terminal and not console.is_dumb_terminal:
                _show_live(watch, readings, console)
            else:
                for reading in readings:
                    echo(json.dumps(reading) if as_json else _line(watch.statistics, reading))
    finally:
        watch.end()


def show_once(watch: Watch, as_json: bool) -> None:
    """Show the only reading and end the watch. Raises RunoffError if there is none."""
    try:
        for reading in watch:
            if as_json:
                echo(json.dumps({key: reading[key] for key in reading if key != "elapsed_s"}, indent=2))
            else:
                console = Console(highlight=False)
                console.print(render_tables(watch.statistics, reading, None, console.width))
    finally:
        watch.end()


def _announce(readings: Iterable[Reading], when_begun: Callable[[], None]) -> Iterator[Reading]:
    for number, reading in enumerate(readings):
        if number == 0:
            when_begun()
        yield reading


def _show_live(watch: Watch, readings: Iterable[Reading], console: Console) -> None:
    before: Reading | None = None
    with Live(console=console, auto_refresh=False) as live:
        for reading in readings:
            title = Text(f"{reading['scheduler']}  {reading['elapsed_s']:.0f} s", style="bold")
            before = reading if before is None else before
            live.update(Group(title, render_tables(watch.statistics, reading, before, console.width)), refresh=True)
            before = reading


def _line(statistics: Statistics, reading: Reading) -> str:
    def counted(counters: Mapping[str, int]) -> str:
        return "  ".join(f"{each['name']} {counters[each['name']]}" for each in statistics)

    cpus = [f"CPU {each['cpu']}: {counted(each['counters'])}" for each in reading.get("per_cpu", ())]
    return "  ".join([reading["scheduler"], f"{reading['elapsed_s']:.0f} s", counted(reading["counters"]), *cpus])


def render_tables(statistics: Statistics, reading: Reading, before: Reading | None, width: int) -> RenderableType:
    """Render totals, rates since the reading ``before`` if there is one, and what each counter counts.

    A live table has one line for each counter. With figures for each CPU they take the place of the sentences, in
    as many tables as ``width`` demands.
    """
    names = [each["name"] for each in statistics]
    totals = {"total": [str(reading["counters"][name]) for name in names]}
    if before is not None:
        totals["per second"] = [_rate(reading, before, name) for name in names]
    if "per_cpu" not in reading:
        sentences = [each["sentence"] for each in statistics]
        return _table(names, totals, sentences, wrapped=before is None)
    cpus = {f"CPU {each['cpu']}": [str(each["counters"][name]) for name in names] for each in reading["per_cpu"]}
    return Group(*(_table(names, part) for part in _parts(names, totals | cpus, width)))


def _rate(reading: Reading, before: Reading, name: str) -> str:
    elapsed_s = reading["elapsed_s"] - before["elapsed_s"]
    return f"{(reading['counters'][name] - before['counters'][name]) / elapsed_s:.1f}" if elapsed_s > 0 else ""


def _parts(names: Sequence[str], columns: Mapping[str, list[str]], width: int) -> list[dict[str, list[str]]]:
    """Return the columns in groups that are not wider than ``width`` together with the names, if one alone is not."""
    first = _width("counter", names)
    parts: list[dict[str, list[str]]] = [{}]
    used = first
    for title, numbers in columns.items():
        own = _GAP + _width(title, numbers)
        if parts[-1] and used + own > width:
            parts.append({})
            used = first
        parts[-1][title] = numbers
        used += own
    return parts


def _width(title: str, cells: Sequence[str]) -> int:
    return max(map(len, [title, *cells]))


def _table(
    names: Sequence[str], columns: Mapping[str, list[str]], sentences: Sequence[str] = (), *, wrapped: bool = False
) -> Table:
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("counter", min_width=_width("counter", names))
    for title, numbers in columns.items():
        table.add_column(title, justify="right", min_width=_width(title, numbers))
    rows = [[Text(cell) for cell in row] for row in zip(names, *columns.values(), strict=True)]
    if sentences:
        table.add_column("what it counts")
        for row, sentence in zip(rows, sentences, strict=True):
            row.append(Text(sentence, no_wrap=not wrapped, overflow="ellipsis"))
    for row in rows:
        table.add_row(*row)
    return table
