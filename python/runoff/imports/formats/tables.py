"""Tables of comma-, semicolon- or tab-separated fields with a header.

A long one has a row for each number and columns for what it is: ``arm`` and ``value``, and if they are there
``workload``, ``load``, ``metric``, ``unit``, ``direction``, ``block``, ``run`` and ``valid``; so is what
``runoff report --csv`` writes. A wide one has a column for each arm and a row for each run.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from runoff.imports.reading import File, FoundMetric, Measured, Reading, parse_number
from runoff.results import Direction
from runoff.separated import is_number, restore_text

LONG = "a long table"
WIDE = "a wide table"
NAMES = ("arm", "value", "workload", "load", "metric", "unit", "direction", "block", "run", "valid")
"""Columns of a long table."""
VALUE = "value"
"""Name of a metric that has none."""
_COUNTERS = ("run", "iteration", "repetition", "#", "")
"""Headers of a wide table's columns that number its rows."""
_DELIMITERS = (",", "\t", ";")


def recognise(file: File) -> bool:
    """Return whether it is a table with a header and a row."""
    if file.text.lstrip().startswith(("{", "[", "<")):
        return False
    rows = list(_parse(file))
    return len(rows) > 1 and not any(is_number(cell) for cell in rows[0] if cell) and any(cell for cell in rows[0])


def read(file: File, columns: Mapping[str, str]) -> Reading:
    """Return its numbers. ``columns`` are the headers of a long table's columns by their names in ``NAMES``, where they
    are others. Raises UsageError."""
    header, *rows = _parse(file)
    header = [cell.strip() for cell in header]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise file.refuse(f"two of its columns are named {twice[0]!r}: give each arm a name of its own")
    for name, written in columns.items():
        if written not in header:
            raise file.refuse(f"it has no column {written!r} for {name}; there are: {', '.join(header)}")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise file.refuse(f"row {number} has {len(row)} fields, and the header {len(header)}")
    places = {name: header.index(columns.get(name, name)) for name in NAMES if columns.get(name, name) in header}
    if "arm" in places and "value" in places:
        if "machine" in header:
            _refuse_several_machines([row[header.index("machine")].strip() for row in rows], file)
        return _read_long(rows, places, file)
    if columns:
        raise file.refuse("a table with a row for each number needs columns for arm and value: --columns arm=...")
    return _read_wide(header, rows, file)


def _parse(file: File) -> Iterator[list[str]]:
    """Yield the rows with something in them; lines that begin with ``#`` are comments. Raises UsageError."""
    lines = [line for line in file.text.splitlines() if line.strip() and not line.startswith("#")]
    delimiter = max(_DELIMITERS, key=lambda each: lines[0].count(each)) if lines else ","
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)
    try:
        yield from ([restore_text(cell) for cell in row] for row in reader)
    except csv.Error as error:
        raise file.refuse(f"line {reader.line_num} of it is not one of a table ({error})") from None


def _read_long(rows: Sequence[Sequence[str]], places: Mapping[str, int], file: File) -> Reading:
    metrics: dict[str, FoundMetric] = {}
    runs: Counter[tuple[str, ...]] = Counter()
    numbers = []
    for number, row in enumerate(rows, 2):
        cells = {name: row[place].strip() for name, place in places.items()}
        if cells.get("valid", "1").lower() in ("0", "false", "no"):
            continue
        metric = cells.get("metric") or VALUE
        found = FoundMetric(metric, cells.get("unit", ""), _read_direction(cells.get("direction", ""), file, number))
        known = metrics.setdefault(metric, found)
        if known.unit != found.unit:
            raise file.refuse(f"{metric} is in {known.unit!r} and in {found.unit!r} (row {number}): write one unit")
        work = " beside ".join(filter(None, (cells.get("workload", ""), cells.get("load", ""))))
        key = (cells["arm"], work, metric)
        value = parse_number(cells["value"], file, f"row {number}")
        numbers.append(Measured(cells["arm"], metric, value, runs[key], cells.get("block"), work))
        runs[key] += 1
    if "block" in places:
        _refuse_twice_in_a_block(numbers, file)
    return Reading(LONG, "arms", list(metrics.values()), numbers)


def _refuse_several_machines(machines: Sequence[str], file: File) -> None:
    names = list(dict.fromkeys(machines))
    if len(names) > 1:
        raise file.refuse(
            f"its rows are of {len(names)} machines ({', '.join(names[:3])}{' ...' if len(names) > 3 else ''}), and a "
            "time on one is never compared with a time on another: import the rows of each by itself"
        )


def _read_direction(text: str, file: File, row: int) -> Direction | None:
    if text in ("lower", "higher", "none", ""):
        return text or None  # type: ignore[return-value]
    raise file.refuse(f"row {row} has the direction {text!r}: write lower, higher or none")


def _refuse_twice_in_a_block(numbers: Sequence[Measured], file: File) -> None:
    counts = Counter((each.case, each.workload, each.metric, each.block) for each in numbers)
    for (arm, _, metric, block), count in counts.items():
        if count > 1:
            raise file.refuse(f"block {block} has {count} values of {metric} for {arm}, and a block is one run of each")


def _read_wide(header: Sequence[str], rows: Sequence[Sequence[str]], file: File) -> Reading:
    block = header.index("block") if "block" in header else None
    arms = [place for place, name in enumerate(header) if place != block and name.lower() not in _COUNTERS]
    numbers = list(
        chain.from_iterable(
            _read_row(header, arms, row, number, None if block is None else row[block].strip(), file)
            for number, row in enumerate(rows)
        )
    )
    return Reading(WIDE, "arms", [FoundMetric(VALUE)], numbers)


def _read_row(
    header: Sequence[str], arms: Sequence[int], row: Sequence[str], number: int, block: str | None, file: File
) -> Iterator[Measured]:
    """Yield the numbers of a row; an empty cell is none."""
    for place in arms:
        cell = row[place].strip()
        if number == 0 and cell and not _begins_like_a_number(cell):
            raise file.refuse(
                f"its column {header[place]!r} has {cell[:40]!r}: a wide table has a column of numbers for each arm; "
                "one with a row for each number needs --columns arm=HEADER,value=HEADER"
            )
        if cell:
            value = parse_number(cell, file, f"row {number + 2}, column {header[place]!r},")
            yield Measured(header[place], VALUE, value, number, block)


def _begins_like_a_number(text: str) -> bool:
    return text.lstrip("+-.")[:1].isdigit()
