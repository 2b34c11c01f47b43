"""Checks what the text says about the tables: one function for each relation of a claim."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from runoff.errors import UsageError
from runoff.published import claims as said
from runoff.published.audit import spread
from runoff.published.audit.findings import Finding, Status
from runoff.published.catalogue import Report
from runoff.published.cells import Cell, find_cell, find_cells
from runoff.published.numbers import Quantity, format_number
from runoff.published.rows import Row
from runoff.text import suggest

Tables = Mapping[str, tuple[Row, ...]]
Answer = tuple[Status, str]

MOST_NAMED = 6
"""Most cells that a sentence lists."""


def check_claims(report: Report) -> Iterator[Finding]:
    """Yield a finding for each claim. Raises UsageError for cells that are not there."""
    tables = {name: table.rows for name, table in report.tables.items()}
    for claim in report.about.claims:
        try:
            status, text = RELATIONS[claim.relation](tables, claim)
        except (ValueError, IndexError, ZeroDivisionError) as error:
            raise UsageError(f'{report.name}: the cells of the claim "{claim.quote}" do not suit it: {error}') from None
        yield Finding(f'"{claim.quote}"', claim.where, status, text, claim=True)


def _check_within(tables: Tables, claim: said.WithinClaim) -> Answer:
    low, high = Fraction(str(claim.low)), Fraction(str(claim.high))
    found = find_cells(tables, claim.cells)
    outside = [one for one in found if not low <= round(one.quantity.value, claim.decimals) <= high]
    text = f"{len(found) - len(outside)} of {len(found)} are between {claim.low:g} and {claim.high:g}"
    return _check_all(outside, text, "outside")


def _check_all(wrong: list[Cell], text: str, word: str) -> Answer:
    if not wrong:
        return Status.FOLLOWS, text
    return Status.FAILS, f"{text}; {word}: {_list(wrong)}"


def _list(found: list[Cell]) -> str:
    shown = ", ".join(f"{one.place} {one.text}" for one in found[:MOST_NAMED])
    return shown + (f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")


def _check_less(tables: Tables, claim: said.LessClaim) -> Answer:
    smaller, larger = find_cells(tables, claim.smaller), find_cells(tables, claim.larger)
    if claim.against == "row":
        pairs = [(one, other) for one, other in zip(smaller, larger, strict=True)]
    else:
        pairs = [(one, other) for one in smaller for other in larger]
    wrong = [(one, other) for one, other in pairs if one.quantity.value >= other.quantity.value]
    text = f"{len(pairs) - len(wrong)} of {len(pairs)} are less"
    if wrong:
        text += "; not: " + ", ".join(
            f"{one.place} {one.text} against {other.text}" for one, other in wrong[:MOST_NAMED]
        )
    elif len(pairs) <= MOST_NAMED:
        text += ": " + ", ".join(f"{one.text} < {other.text}" for one, other in pairs)
    right = spread.is_enough(claim.share, len(pairs) - len(wrong), len(pairs))
    return Status.FOLLOWS if right else Status.FAILS, text


def _check_extreme(tables: Tables, claim: said.ExtremeClaim) -> Answer:
    one, of = find_cell(tables, claim.cell), find_cells(tables, claim.of)
    sign = 1 if claim.relation == "least" else -1
    better = [other for other in of if sign * other.quantity.value < sign * one.quantity.value]
    if not better:
        return Status.FOLLOWS, f"{one.text} is the {claim.relation} of {len(of)}"
    best = min(better, key=lambda other: sign * other.quantity.value)
    text = f"{one.text} is not the {claim.relation} of {len(of)}: {len(better)} are beyond it, {best.place} with "
    return Status.FAILS, text + best.text + _find_valid_rows(one, of, sign)


def _find_valid_rows(one: Cell, of: list[Cell], sign: int) -> str:
    """Say for which rows of the table the claim would be true."""
    rows = [other.row for other in of]
    if one.row not in rows:
        return ""
    upto = next(i for i, other in enumerate(of) if sign * other.quantity.value < sign * one.quantity.value)
    if upto <= rows.index(one.row):
        return ""
    return f"; it is among {rows[0]} to {rows[upto - 1]}"


def _check_about(tables: Tables, claim: said.AboutClaim) -> Answer:
    one = find_cell(tables, claim.cell)
    known, how = one.quantity, f"it is {one.text}"
    if claim.than:
        other = find_cell(tables, claim.than)
        how = f"{one.text} against {other.text}"
        known = one.quantity - other.quantity
        if claim.unit == "percent":
            known = Quantity.exactly(100) * known / other.quantity
        value, low, high = (format_number(each, 2) for each in (known.value, known.low, known.high))
        how += f": {value}, {low} to {high} with what rounding hides"
    half, stated = Fraction(1, 10**claim.decimals) / 2, Fraction(str(claim.value))
    return Status.FOLLOWS if abs(known.value - stated) <= half else Status.FAILS, f"{how}; stated is {claim.value:g}"


def _check_rows(tables: Tables, claim: said.RowsClaim) -> Answer:
    if claim.table not in tables:
        raise UsageError(f"a claim names no table {claim.table!r}{suggest(claim.table, tables)}")
    found = len(tables[claim.table])
    return Status.FOLLOWS if found == claim.count else Status.FAILS, f"{claim.table} has {found} rows"


def _check_falling(tables: Tables, claim: said.FallingClaim) -> Answer:
    found = find_cells(tables, claim.cells)
    rising = [after for before, after in pairwise(found) if after.quantity.value >= before.quantity.value]
    text = f"{len(found) - 1 - len(rising)} of {len(found) - 1} steps fall"
    first = f", the first from {found[0].text} to {found[1].text}"
    return _check_all(rising, text + first, "it rises again at")


def _check_mean(tables: Tables, claim: said.MeanClaim) -> Answer:
    one, runs = find_cell(tables, claim.cell), int(find_cell(tables, claim.runs).quantity.value)
    rest = runs - 2
    ends = Fraction(str(claim.least)) + Fraction(str(claim.most))
    low = (one.quantity.low * runs - ends) / rest if rest else ends
    high = (one.quantity.high * runs - ends) / rest if rest else ends
    text = f"{one.text} is the mean of {runs} with {claim.least:g} and {claim.most:g} among them"
    possible = low <= Fraction(str(claim.most)) and high >= Fraction(str(claim.least)) and rest > 0
    others = "is" if rest == 1 else f"{rest} are on average"
    text += f" if the other {others} {format_number(low, 0)} to {format_number(high, 0)}"
    return Status.FOLLOWS if possible else Status.FAILS, text


def _check_busy(tables: Tables, claim: said.BusyClaim) -> Answer:
    """Check how long the CPUs must be idle if the same CPU time was spread over a longer time."""
    ratio, dip = find_cell(tables, claim.ratio).quantity.value, find_cell(tables, claim.dip).quantity.value
    busy = sorted(one.quantity.value for one in find_cells(tables, claim.busy))
    need = [level * ratio for level in busy]
    share = sorted(100 * (level - mean) / (level - dip) for level, mean in zip(busy, need, strict=True))
    if share[0] > 100:
        return (
            Status.FAILS,
            f"a mean of {format_number(need[0], 0)} % would be needed, below the dips of {format_number(dip, 0)} %",
        )
    shares, needs, levels = (f"{format_number(e[0], 0)} to {format_number(e[-1], 0)} %" for e in (share, need, busy))
    text = (
        f"the CPUs were down at {format_number(dip, 0)} % for {shares} of the time: the same CPU time spread over "
        f"{format_number(1 / ratio, 1)} times as long is a mean of {needs}, instead of {levels}"
    )
    return Status.ONLY_IF, text


def _check_unstated(tables: Tables, claim: said.UnstatedClaim) -> Answer:
    found = find_cells(tables, claim.cells) if claim.cells else []
    return Status.UNCHECKED, claim.lacking + (" " + ", ".join(one.text for one in found) if found else "")


RELATIONS: Mapping[str, Callable[[Tables, Any], Answer]] = {
    "within": _check_within,
    "less": _check_less,
    "least": _check_extreme,
    "most": _check_extreme,
    "about": _check_about,
    "rows": _check_rows,
    "falling": _check_falling,
    "mean of": _check_mean,
    "busy": _check_busy,
    "unstated": _check_unstated,
    "apart": spread.check_apart,
    "different": spread.check_different,
    "steady": spread.check_steady,
    "settles": spread.check_settles,
}
