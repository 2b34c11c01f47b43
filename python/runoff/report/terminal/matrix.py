"""The matrix of loads and arms in text."""

from collections.abc import Iterator

from rich.text import Text

from runoff.report.terminal.table import GAP, INDENT, STYLES
from runoff.report.words import wording
from runoff.report.words.layout import cut_middle, wrap
from runoff.report.words.load_rows import Entry, Matrix
from runoff.report.words.numbers import Scale

LONGEST_LOAD = 24
LONGEST_ARM = 24


def render_rows(matrix: Matrix, width: int) -> Iterator[Text]:
    """Yield heading and a line for each load; arms that do not fit beside each other get further lines below."""
    yield from (Text(line, style="bold") for line in wrap(wording.render_matrix_heading(matrix), width))
    load_width = max(len("load"), *(min(len(load), LONGEST_LOAD) for load in matrix.tables))
    columns = [_column(matrix, arm, matrix.scale) for arm in matrix.arms]
    while columns:
        fitting, columns = _split(columns, width - len(INDENT) - load_width)
        titles = "".join(GAP + cells[0] for cells, _ in fitting)
        yield Text((INDENT + "load".ljust(load_width) + titles).rstrip(), style="bright_black")
        for number, load in enumerate(matrix.tables, 1):
            line = Text(INDENT + cut_middle(load, load_width).ljust(load_width))
            for cells, entries in fitting:
                verdict = entries[number - 1].verdict
                line.append(GAP + cells[number], style=STYLES.get(verdict, "") if verdict else "")
            line.rstrip()
            yield line


_Column = tuple[list[str], list[Entry]]


def _column(matrix: Matrix, arm: str, scale: Scale) -> _Column:
    entries = [matrix.entries[load, arm] for load in matrix.tables]
    cells = [cut_middle(arm, LONGEST_ARM), *(_cell(entry, scale) for entry in entries)]
    width = max(len(cell) for cell in cells)
    # What is read together stands together: the name above the numbers, verdicts in a column of their own.
    return [cell.rjust(width) for cell in cells], entries


def _cell(entry: Entry, scale: Scale) -> str:
    if entry.mean is None:
        return f"- {entry.verdict or ' '}"
    ratio = "" if entry.ratio is None else f" {entry.ratio:.2f}x"
    return f"{scale.plain(entry.mean)}{ratio} {entry.verdict or ' '}"


def _split(columns: list[_Column], room: int) -> tuple[list[_Column], list[_Column]]:
    taken, used = 0, 0
    for cells, _ in columns:
        used += len(GAP) + len(cells[0])
        if used > room and taken:
            break
        taken += 1
    return columns[:taken], columns[taken:]
