"""The table of ZAPHOD's announcement: percentages of the vanilla kernel."""

from collections.abc import Iterator

from runoff.published.audit.findings import Finding, Status, check_derived
from runoff.published.catalogue import Report
from runoff.published.numbers import Quantity, can_be_cut
from runoff.published.rows import HackbenchRow

PERCENT = "the percentage is the mean in percent of vanilla's"
CUT = "one way of shortening gives all percentages of a column"

COLUMNS = ("groups10", "groups100")


def check_percents(report: Report) -> Iterator[Finding]:
    """Check each percentage, then whether a column is rounded or cut."""
    for table in report.of_kind("hackbench"):
        rows = [row for row in table.rows if isinstance(row, HackbenchRow)]
        base = rows[0]
        for column in COLUMNS:
            singles = [_check_percent(table.name, column, row, base) for row in rows]
            yield from singles
            yield _check_column(table.name, column, rows, singles)


def _quantity(column: str, row: HackbenchRow, base: HackbenchRow) -> Quantity:
    if row is base:
        return Quantity.exactly(100)
    return Quantity.exactly(100) * row.find_quantity(f"{column}_s") / base.find_quantity(f"{column}_s")


def _check_percent(table: str, column: str, row: HackbenchRow, base: HackbenchRow) -> Finding:
    printed, place = getattr(row, f"{column}_pct"), f"{table}, {row.key}, {column}"
    how = f"100 x {row.cells[f'{column}_s']} / {base.cells[f'{column}_s']}"
    return check_derived(PERCENT, place, printed, _quantity(column, row, base), how)


def _check_column(table: str, column: str, rows: list[HackbenchRow], singles: list[Finding]) -> Finding:
    rounded = sum(finding.status is Status.FOLLOWS for finding in singles)
    cut = sum(can_be_cut(getattr(row, f"{column}_pct"), _quantity(column, row, rows[0])) for row in rows)
    text = f"of {len(rows)} percentages {rounded} can come from rounding, {cut} from cutting off"
    status = Status.FOLLOWS if rounded == len(rows) else Status.ONLY_IF if cut == len(rows) else Status.FAILS
    if status is Status.ONLY_IF:
        text = f"all are cut off after the first decimal: {text}"
    return Finding(CUT, f"{table}, {column}", status, text)
