"""Finds and reads published reports: a directory each, with ``report.toml`` and a CSV file for every table."""

import csv
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from runoff.errors import UsageError
from runoff.published.claims import Claim
from runoff.published.replication import Part
from runoff.published.rows import KINDS, Row
from runoff.text import suggest
from runoff.validation import Checked, Text, Words, describe_mistake

DATA = Path(__file__).with_name("data")
DESCRIPTION = "report.toml"


class TableAbout(Checked):
    """One ``[[tables]]`` of a description."""

    name: Text
    kind: Text
    title: Text
    where: Text
    """Page, slide or heading of the table in the report."""
    caption: Text = ""
    cpu: Text = ""
    """For quantiles, the row of the table of means that they belong to."""
    benchmark: Text = ""
    """For quantiles, that table of means."""


class Clock(Checked):
    """Facts about a machine from other sources."""

    ghz: Text
    """The clock as sold."""
    cores: int
    threads: int


class Description(Checked):
    """``report.toml``: the source of the report, its tables, its claims, and how to repeat it."""

    title: Text
    author: Text
    date: Text
    where: Text
    about: Text
    then: dict[Text, Text] = Field(default_factory=dict)
    """Machine, kernel and so on of that time, to compare with today's."""
    least_runs: int | None = None
    """Stated number of runs behind each mean, or the least number."""
    whole_loads: Words = ()
    """Loads that count whole passes."""
    one_cpu: Text = ""
    """How it is known that the machine ran a single CPU; empty if it did not or that is not known."""
    sold_as: dict[Text, Clock] = Field(default_factory=dict)
    sold_as_source: Text = ""
    tables: tuple[TableAbout, ...] = Field(default=(), strict=False)
    claims: tuple[Claim, ...] = Field(default=(), strict=False)
    parts: tuple[Part, ...] = Field(default=(), strict=False)


@dataclass(frozen=True, slots=True)
class Table:
    """One published table."""

    about: TableAbout
    path: Path
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(KINDS[self.about.kind].model_fields)

    def row(self, key: str) -> Row | None:
        """Return the row with this key; None if there is none."""
        return next((row for row in self.rows if row.key == key), None)


@dataclass(frozen=True, slots=True)
class Report:
    """One published report."""

    name: str
    about: Description
    tables: Mapping[str, Table]

    def of_kind(self, kind: str) -> tuple[Table, ...]:
        """Return the tables of one kind, in order."""
        return tuple(table for table in self.tables.values() if table.about.kind == kind)


def list_names() -> list[str]:
    """Return the names of all reports, oldest first."""
    return sorted((path.parent.name for path in DATA.glob(f"*/{DESCRIPTION}")), key=lambda name: _date(DATA / name))


def find(name: str) -> tuple[Report, str | None]:
    """Return a report, or a table of it for ``report/table``. A path begins with a dot or a slash.

    Raises UsageError for an unknown name, with the closest one, and for a report that cannot be read.
    """
    if name.startswith((".", "/")):
        return read(Path(name)), None
    report, slash, table = name.partition("/")
    if report not in list_names():
        raise UsageError(f"no published report {report!r}{suggest(report, list_names())}")
    found = read(DATA / report)
    if slash and table not in found.tables:
        raise UsageError(f"{report} has no table {table!r}{suggest(table, found.tables)}")
    return found, table if slash else None


@cache
def read(directory: Path) -> Report:
    """Return a report from its directory. Raises UsageError that names file, line and column."""
    about = _description(directory)
    for table in about.tables:
        if table.kind not in KINDS:
            raise UsageError(f"{directory / DESCRIPTION}: no kind of table {table.kind!r}{suggest(table.kind, KINDS)}")
    tables = {table.name: _table(directory / f"{table.name}.csv", table) for table in about.tables}
    return Report(directory.resolve().name, about, tables)


def _description(directory: Path) -> Description:
    path = directory / DESCRIPTION
    try:
        return Description.model_validate(_toml(path))
    except ValidationError as error:
        raise UsageError(f"{path}: {describe_mistake(error)}") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; a published report is a directory with it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None


def _date(directory: Path) -> str:
    return str(_toml(directory / DESCRIPTION)["date"])


def _table(path: Path, about: TableAbout) -> Table:
    kind = KINDS[about.kind]
    columns = list(kind.model_fields)
    rows: list[Row] = []
    for line, cells in _lines(path, columns):
        if len(cells) != len(columns):
            raise UsageError(f"{path}:{line}: {len(cells)} cells, but there are {len(columns)} columns: {cells}")
        try:
            row = kind.model_validate(dict(zip(columns, cells, strict=True)))
        except ValidationError as error:
            raise UsageError(f"{path}:{line}: {describe_mistake(error)}") from None
        if any(other.key == row.key for other in rows):
            raise UsageError(f"{path}:{line}: there is a row {row.key!r} already")
        rows.append(row)
    if not rows:
        raise UsageError(f"{path}: it has no rows")
    return Table(about, path, tuple(rows))


def _lines(path: Path, columns: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below the heading, each with the number of its line."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            heading = next(reader, [])
            if heading != columns:
                raise UsageError(f"{path}:1: the heading must be {','.join(columns)}")
            yield from ((reader.line_num, cells) for cells in reader)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not CSV: {error}") from None
