"""The cells that a claim or a replication refers to: ``table[row].column``."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runoff.errors import UsageError
from runoff.published.numbers import Number, Quantity
from runoff.published.rows import Row
from runoff.text import suggest

ADDRESS = re.compile(r"([\w|-]+|\*)\[([^\]]+)\]\.(\w+)")
RANGE = re.compile(r"(\d+)\.\.(\d+)")


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a report, printed or derived from printed ones."""

    table: str
    row: str
    column: str
    quantity: Quantity
    printed: Number | None

    @property
    def place(self) -> str:
        return f"{self.table}, {self.row}"

    @property
    def text(self) -> str:
        """The number as printed; derived ones with two decimals."""
        return str(self.printed) if self.printed is not None else f"{float(self.quantity.value):.2f}"


def find_cells(tables: Mapping[str, tuple[Row, ...]], address: str) -> list[Cell]:
    """Return all cells that ``address`` names, in the order of the tables. Raises UsageError."""
    found = ADDRESS.fullmatch(address)
    if found is None:
        raise UsageError(f"{address!r} is not of the form table[row].column")
    chosen = list(tables) if found[1] == "*" else found[1].split("|")
    return [cell for table in chosen for cell in _find_in_table(tables, table, found[2], found[3], address)]


def find_cell(tables: Mapping[str, tuple[Row, ...]], address: str) -> Cell:
    """Return the one cell that ``address`` names. Raises UsageError."""
    found = find_cells(tables, address)
    if len(found) != 1:
        raise UsageError(f"{address} must be one cell, not {len(found)}")
    return found[0]


def _find_in_table(
    tables: Mapping[str, tuple[Row, ...]], table: str, rows: str, column: str, address: str
) -> Iterator[Cell]:
    if table not in tables:
        raise UsageError(f"{address}: no table {table!r}{suggest(table, tables)}")
    known = {row.key: row for row in tables[table]}
    for key in _keys(rows, list(known), address):
        try:
            number = known[key].find_quantity(column)
        except (AttributeError, TypeError):
            raise UsageError(f"{address}: no number {column!r}{suggest(column, known[key].cells)}") from None
        printed = getattr(known[key], column)
        yield Cell(table, key, column, number, printed if isinstance(printed, Number) else None)


def _keys(rows: str, known: list[str], address: str) -> list[str]:
    if rows == "*":
        return known
    span = RANGE.fullmatch(rows)
    if span is not None:
        return [key for key in known if int(span[1]) <= int(key) <= int(span[2])]
    named = rows.removeprefix("!").split("|")
    for key in named:
        if key not in known:
            raise UsageError(f"{address}: no row {key!r}{suggest(key, known)}")
    return [key for key in known if key not in named] if rows.startswith("!") else named
