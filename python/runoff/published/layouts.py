"""Published tables in their original layouts."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from runoff.published.catalogue import Report, Table
from runoff.report.words.layout import wrap

WIDTH = 80
CONTEST_KERNEL, CONTEST_COLUMN = 15, 8
QUANTILES = ("Level", "Minimum", "10%", "25%", "Median", "75%", "90%", "Maximum")


def render_report(found: Report) -> str:
    """Return the source of a report, then all its tables."""
    about = found.about
    lines = [about.title, *wrap(f"{about.author}, {about.date}: {about.where}", WIDTH)]
    for one in found.tables.values():
        lines += ["", *_lines(one)]
    return "\n".join(lines) + "\n"


def render_table(found: Table) -> str:
    """Return one table under its title."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Table) -> Iterator[str]:
    yield from LAYOUTS[found.about.kind](found)


def _grid(rows: Sequence[Sequence[str]], left: int = 1) -> Iterator[str]:
    """Lay out rows in columns, the first ``left`` of them left-aligned; closer if the lines get too wide."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    gap = "  " if sum(widths) + 2 * len(widths) <= WIDTH else " "
    for row in rows:
        cells = [
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield gap.join(cells).rstrip()


def _cells(found: Table) -> list[list[str]]:
    return [list(row.cells.values()) for row in found.rows]


def _means(found: Table) -> Iterator[str]:
    yield found.about.title
    body = [[*cells[:4], f"{cells[4]} % {cells[5]}"] for cells in _cells(found)]
    lines = list(_grid([["", "Vanilla", "CK-Patched", "Difference", "Result"], *body]))
    over = lines[0].index("Vanilla")
    beside = lines[0].index("Difference")
    yield "CPU".ljust(over) + "Average Time (sec)".ljust(beside - over) + "CK Kernel is..."
    yield from lines


def _quantiles(found: Table) -> Iterator[str]:
    yield f"Oneway Analysis {found.about.title}"
    yield from wrap(found.about.caption, WIDTH) if found.about.caption else ()
    yield "Quantiles"
    yield from _grid([QUANTILES, *_cells(found)])


def _cores(found: Table) -> Iterator[str]:
    yield found.about.title
    for cpu, cores in _cells(found):
        yield f"{cpu} = {cores} core{'s' if cores != '1' else ''}"


def _hardware(found: Table) -> Iterator[str]:
    yield found.about.title
    heading = ["CPU Model", "Clock Speed (GHz)", "RAM (GB)", "Comment"]
    rows = [heading, *_cells(found)]
    for line, row in zip(_grid([row[:3] for row in rows]), rows, strict=True):
        yield f"{line}  {row[3]}".rstrip()


def _packages(found: Table) -> Iterator[str]:
    yield found.about.title
    yield from (f"- {cells[0]}" for cells in _cells(found))


def _statements(found: Table) -> Iterator[str]:
    yield found.about.title
    yield from (f'{name}: {value} {unit}, "{words}"' for name, value, unit, words in _cells(found))


def _contest(found: Table) -> Iterator[str]:
    yield f"{found.about.title}:"
    yield "Kernel".ljust(CONTEST_KERNEL) + "[runs]   " + _contest_cells("Time", "CPU%", "Loads", "LCPU%", "Ratio")
    for kernel, runs, *cells in _cells(found):
        yield kernel.ljust(CONTEST_KERNEL) + runs.rjust(6) + "   " + _contest_cells(*cells)


def _contest_cells(*cells: str) -> str:
    return "".join(cell.ljust(CONTEST_COLUMN) for cell in cells).rstrip()


def _hackbench(found: Table) -> Iterator[str]:
    yield "Kernel Mode IAB TPB  10 groups           100 groups"
    yield "-" * 60
    for kernel, mode, iab, tpb, *cells in _cells(found):
        named = f'"{mode}" {iab:>2} {tpb:>3}' if mode else ""
        yield f"{kernel:<7} {named:<11}  {_relative(cells[:3])} {_relative(cells[3:])}"


def _relative(cells: Sequence[str]) -> str:
    """Return ``mean(pct%, sd%)``."""
    mean, percent, sd = cells
    return f"{mean}({percent:>5}%, {sd}%)"


def _counters(found: Table) -> Iterator[str]:
    yield found.about.title
    yield "#Proc  2.6.31 (Cost)         2.6.31-bfs (Cost)     2.6.32-rc5 (Cost)      Impr%"
    for number, *cells in _cells(found):
        times = "  ".join(f"{time}( {cost})" for time, cost in zip(cells[0:6:2], cells[1:6:2], strict=True))
        yield f"{number:>5}  {times}  {cells[6]:>5}%"


def _compile(found: Table) -> Iterator[str]:
    yield found.about.title
    heading = ["#Job", "2.6.31", "2.6.31-bfs", "2.6.32-rc5", "Impr%"]
    yield from _grid([heading, *([*cells[:4], f"{cells[4]}%"] for cells in _cells(found))], left=0)


def _sizes(found: Table) -> Iterator[str]:
    yield "Size    Kernel"
    yield from (f"{size} {kernel}" for size, kernel in _cells(found))


LAYOUTS: Mapping[str, Callable[[Table], Iterator[str]]] = {
    "means": _means,
    "quantiles": _quantiles,
    "cores": _cores,
    "hardware": _hardware,
    "packages": _packages,
    "statements": _statements,
    "contest": _contest,
    "hackbench": _hackbench,
    "counters": _counters,
    "compile": _compile,
    "sizes": _sizes,
}
