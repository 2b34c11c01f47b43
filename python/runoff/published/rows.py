"""The rows of published tables, a class for each kind of table: columns, types, and the name of each row."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import PlainValidator

from runoff.published.numbers import Number, Quantity
from runoff.validation import Checked, Text


def _number(value: Any) -> Number:
    return value if isinstance(value, Number) else Number.parse(value)


def _positive(value: Any) -> Number:
    number = _number(value)
    if number.value <= 0:
        raise ValueError(f"{number} must be above zero")
    return number


def _not_negative(value: Any) -> Number:
    number = _number(value)
    if number.value < 0:
        raise ValueError(f"{number} must not be below zero")
    return number


def _count(value: Any) -> Number:
    number = _positive(value)
    if number.value.denominator != 1:
        raise ValueError(f"{number} must be a whole number")
    return number


Signed = Annotated[Number, PlainValidator(_number)]
Positive = Annotated[Number, PlainValidator(_positive)]
NotNegative = Annotated[Number, PlainValidator(_not_negative)]
Count = Annotated[Number, PlainValidator(_count)]

HUNDRED = Quantity.exactly(100)


class Row(Checked):
    """One row; the fields are the columns of the file, in its order."""

    @property
    def key(self) -> str:
        """The name of the row: its first column, unless a kind of table overrides it."""
        return str(next(iter(self.cells.values())))

    @property
    def cells(self) -> Mapping[str, str]:
        """The cells as printed, by column."""
        return {name: str(getattr(self, name)) for name in type(self).model_fields}

    def find_quantity(self, column: str) -> Quantity:
        """Return a number of this row, printed or derived. Raises AttributeError, TypeError if there is none."""
        value = getattr(self, column)
        if isinstance(value, Number):
            return value.quantity
        if not isinstance(value, Quantity):
            raise TypeError(f"{column} is not a number")
        return value


class MeansRow(Row):
    """Two kernels on one machine."""

    cpu: Text
    vanilla_s: Positive
    ck_s: Positive
    difference_s: Signed
    result_pct: NotNegative
    result: Literal["faster", "slower"]

    @property
    def difference(self) -> Quantity:
        """The patched kernel minus the other, as the column's title says."""
        return self.ck_s.quantity - self.vanilla_s.quantity

    @property
    def gain(self) -> Quantity:
        """Time that is saved, in percent of the vanilla kernel's; negative if it takes more."""
        return HUNDRED * (self.vanilla_s.quantity - self.ck_s.quantity) / self.vanilla_s.quantity


class QuantileRow(Row):
    """One kernel's runs."""

    level: Text
    minimum_s: Positive
    q10_s: Positive
    q25_s: Positive
    median_s: Positive
    q75_s: Positive
    q90_s: Positive
    maximum_s: Positive


class CoresRow(Row):
    """How many CPUs a machine has."""

    cpu: Text
    cores: Count


class HardwareRow(Row):
    """One machine."""

    cpu: Text
    clock_ghz: Positive
    ram_gb: Positive
    comment: Text


class PackageRow(Row):
    """A piece of software with its version."""

    package: Text


class StatementRow(Row):
    """A number that stands in running text."""

    quantity: Text
    value: Positive
    unit: Text
    words: Text


class ContestRow(Row):
    """One kernel with one load."""

    kernel: Text
    runs: Count
    time_s: Count
    cpu_pct: NotNegative
    loads: NotNegative
    lcpu_pct: NotNegative
    ratio: Positive


class HackbenchRow(Row):
    """One kernel in one mode."""

    kernel: Text
    mode: Text
    iab: Text
    tpb: Text
    groups10_s: Positive
    groups10_pct: Positive
    groups10_sd_pct: NotNegative
    groups100_s: Positive
    groups100_pct: Positive
    groups100_sd_pct: NotNegative

    @property
    def key(self) -> str:
        return " ".join(filter(None, (self.kernel, self.mode, self.iab, self.tpb)))


class CountersRow(Row):
    """A number of counting processes under three kernels."""

    processes: Count
    k2631_s: Positive
    k2631_cost_s: Positive
    bfs_s: Positive
    bfs_cost_s: Positive
    k2632_s: Positive
    k2632_cost_s: Positive
    impr_pct: Signed

    @property
    def gain(self) -> Quantity:
        """Time that BFS saves, in percent of 2.6.31's."""
        return HUNDRED * (self.k2631_s.quantity - self.bfs_s.quantity) / self.k2631_s.quantity


class CompileRow(Row):
    """A compile with a number of jobs under three kernels."""

    jobs: Count
    k2631_s: Positive
    bfs_s: Positive
    k2632_s: Positive
    impr_pct: Signed

    @property
    def gain(self) -> Quantity:
        """Time that BFS saves, in percent of 2.6.31's."""
        return HUNDRED * (self.k2631_s.quantity - self.bfs_s.quantity) / self.k2631_s.quantity


class SizeRow(Row):
    """A kernel's image."""

    size_bytes: Count
    kernel: Text

    @property
    def key(self) -> str:
        return self.kernel


KINDS: Mapping[str, type[Row]] = {
    "means": MeansRow,
    "quantiles": QuantileRow,
    "cores": CoresRow,
    "hardware": HardwareRow,
    "packages": PackageRow,
    "statements": StatementRow,
    "contest": ContestRow,
    "hackbench": HackbenchRow,
    "counters": CountersRow,
    "compile": CompileRow,
    "sizes": SizeRow,
}
"""The rows of each kind of table, by its word in a report's description."""

SIGNIFICANT = 7
"""Digits that JMP prints of a quantile; zeros at the end are left out."""


def jmp_step(number: Number) -> Fraction:
    """Return the value of one unit in the last digit that JMP prints."""
    whole = int(number.value)
    places = SIGNIFICANT - len(str(whole)) if whole else SIGNIFICANT
    return Fraction(1, 10 ** max(places, number.decimals))
