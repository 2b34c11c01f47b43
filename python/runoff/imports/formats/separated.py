"""Tables of separated fields as text: CSV, TSV, semicolons, bars of Markdown, blanks."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from runoff.imports.values import File, refuse_too_many
from runoff.separated import is_number, restore_text

_COMMA, _BLANK, _BAR = ",", " ", "|"
_DELIMITERS = (_COMMA, "\t", ";")
_RULE = re.compile(r"^[|\s:-]*-[|\s:-]*$")
"""The line of Markdown below a header."""
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True)
class Table:
    """A header and rows of as many fields."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    """By row, the number of its line in the file, from 1."""

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The fields of each column by its header."""
        return dict(zip(self.header, zip(*self.rows, strict=True), strict=True))


def recognise(file: File) -> bool:
    """Return whether it is a table with a header and a row."""
    if file.text.lstrip().startswith(("{", "[", "<")):
        return False
    lines = _list_lines(file)
    rows = [fields for _, fields in islice(_split(lines, _find_delimiter(lines), file), 2)]
    return len(rows) > 1 and any(rows[0]) and not any(is_number(cell) for cell in rows[0] if cell)


def parse(file: File) -> Table:
    """Return the table. Raises UsageError where it is none."""
    lines = _list_lines(file)
    delimiter = _find_delimiter(lines)
    refuse_too_many(sum(line.count(delimiter) + 1 for _, line in lines), file)
    numbered = [(line, [cell.strip() for cell in fields]) for line, fields in _split(lines, delimiter, file)]
    if len(numbered) < 2:
        raise file.refuse("it is not a table with a header and rows")
    header = tuple(numbered[0][1])
    number = next((cell for cell in header if is_number(cell)), None)
    if number is not None:
        raise file.refuse(f"its first line has the number {number}: a table needs a header with a name for each column")
    twice = next((name for name, count in Counter(header).items() if name and count > 1), None)
    if twice is not None:
        raise file.refuse(f"two of its columns are named {twice!r}: give each a name of its own")
    for line, fields in numbered[1:]:
        if len(fields) != len(header):
            raise file.refuse(f"line {line} has {len(fields)} fields, and the header {len(header)}")
    header, rows = _drop_unnamed(header, [fields for _, fields in numbered[1:]], file)
    if delimiter != _COMMA:
        columns = [_read_decimal_commas(column, file) for column in zip(*rows, strict=True)]
        rows = [list(row) for row in zip(*columns, strict=True)]
    return Table(header, tuple(map(tuple, rows)), tuple(line for line, _ in numbered[1:]))


def _drop_unnamed(
    header: tuple[str, ...], rows: list[list[str]], file: File
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the table without columns that have neither a name nor a field. Raises UsageError for several others."""
    unnamed = [place for place, name in enumerate(header) if not name]
    filled = [place for place in unnamed if any(row[place] for row in rows)]
    if len(filled) > 1:
        raise file.refuse(f"{len(filled)} of its columns have no name: give each one")
    dropped = set(unnamed) - set(filled)
    if not dropped:
        return header, rows
    kept = [place for place in range(len(header)) if place not in dropped]
    return tuple(header[place] for place in kept), [[row[place] for place in kept] for row in rows]


_Line = tuple[int, str]


def _list_lines(file: File) -> list[_Line]:
    """Return lines that have something in them and are not comments, with their numbers."""
    lines = enumerate(file.text.splitlines(), 1)
    return [(number, line) for number, line in lines if line.strip() and not _is_comment(line)]


def _is_comment(line: str) -> bool:
    """Return whether it begins with ``#``, which alone may be the header of a column."""
    return line.startswith("#") and line[1:2] not in _DELIMITERS


def _find_delimiter(lines: Sequence[_Line]) -> str:
    if not lines:
        return _COMMA
    first = lines[0][1]
    if first.lstrip().startswith(_BAR):
        return _BAR
    words = {len(line.split()) for _, line in lines}
    if len(words) == 1 and words != {1} and not any(each in first for each in (*_DELIMITERS, '"')):
        return _BLANK
    return max(_DELIMITERS, key=first.count)


def _split(lines: Sequence[_Line], delimiter: str, file: File) -> Iterator[tuple[int, list[str]]]:
    """Yield the numbers of lines and their fields. Raises UsageError."""
    if delimiter == _BAR:
        yield from ((number, _split_bars(line)) for number, line in lines if not _RULE.match(line))
    elif delimiter == _BLANK:
        yield from ((number, line.split()) for number, line in lines)
    else:
        yield from _split_fields(lines, delimiter, file)


def _split_bars(line: str) -> list[str]:
    inner = line.strip().removeprefix(_BAR)
    inner = inner[:-1] if inner.endswith(_BAR) and not inner.endswith("\\|") else inner
    return [cell.strip().strip("*`").replace("\\|", _BAR) for cell in re.split(r"(?<!\\)\|", inner)]


def _split_fields(lines: Sequence[_Line], delimiter: str, file: File) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO("\n".join(line for _, line in lines)), delimiter=delimiter)
    begin = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            number = lines[min(reader.line_num, len(lines)) - 1][0]
            raise file.refuse(f"line {number} of it is not one of a table ({error})") from None
        if row is None:
            return
        yield lines[begin][0], [restore_text(cell) for cell in row]
        begin = reader.line_num


def _read_decimal_commas(column: Sequence[str], file: File) -> Sequence[str]:
    """Return a column of numbers with points where it has decimal commas. Raises UsageError if they may be others."""
    commas = [cell for cell in column if _WITH_COMMA.fullmatch(cell) or _THOUSANDS.fullmatch(cell)]
    if not commas or not all(not cell or cell in commas or is_number(cell) for cell in column):
        return column
    if any("." in cell for cell in column) or all(_THOUSANDS.fullmatch(cell) for cell in commas):
        raise file.refuse(
            f"{commas[0]!r} has a comma of thousands or of decimals, and nothing says which: write numbers with a "
            "point and without other separators"
        )
    return [cell.replace(",", ".") if _WITH_COMMA.fullmatch(cell) else cell for cell in column]
