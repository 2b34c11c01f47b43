"""Claims about the distance of values: in standard deviations, by a test, along a curve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from runoff.published import claims as said
from runoff.published.audit.findings import Status
from runoff.published.cells import Cell, find_cell, find_cells
from runoff.published.claims import LEAST_SHARE, SEVERAL
from runoff.published.numbers import format_number
from runoff.published.rows import Row

Tables = Mapping[str, tuple[Row, ...]]
Answer = tuple[Status, str]

ALPHA = 0.05

STEADIER = 2


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean with its standard deviation."""

    mean: float
    sd: float

    @classmethod
    def from_cells(cls, tables: Tables, one: Cell, sd_pct: str) -> "Spread":
        """Return the mean of a cell with the deviation, in percent, from the same row."""
        percent = find_cell(tables, f"{one.table}[{one.row}].{sd_pct}").quantity.value
        return cls(float(one.quantity.value), float(one.quantity.value * percent / 100))


def check_apart(tables: Tables, claim: said.ApartClaim) -> Answer:
    """Return differences in standard deviations, for four readings of which deviation is meant."""
    base = Spread.from_cells(tables, find_cell(tables, claim.base), claim.sd_pct)
    others = [Spread.from_cells(tables, one, claim.sd_pct) for one in find_cells(tables, claim.cells)]
    readings: Mapping[str, Callable[[Spread], float]] = {
        "the base's": lambda other: base.sd,
        "their own": lambda other: other.sd,
        "the larger": lambda other: max(base.sd, other.sd),
        "that of the difference": lambda other: sqrt(base.sd**2 + other.sd**2),
    }
    limit = claim.limit
    counts = {}
    for name, deviation in readings.items():
        beyond = [abs(other.mean - base.mean) - limit * deviation(other) for other in others]
        counts[name] = sum(each < 0 if claim.side == "below" else each > 0 for each in beyond)
    holding = [name for name, count in counts.items() if is_enough(claim.share, count, len(others))]
    listed = ", ".join(f"{count} by {name}" for name, count in counts.items())
    text = f"{claim.side} {claim.limit:g} standard deviations of {len(others)}: {listed}"
    if len(holding) == len(counts):
        return Status.FOLLOWS, text
    if holding:
        return Status.ONLY_IF, f"the deviation is {' or '.join(holding)}: {text}"
    return Status.FAILS, text


def is_enough(share: said.Share, count: int, of: int) -> bool:
    """Return whether ``count`` of ``of`` are enough for the word."""
    if share == "several":
        return count >= SEVERAL
    if share == "none":
        return count == 0
    part = Fraction(count, of)
    return part > LEAST_SHARE[share] if share == "mostly" else part >= LEAST_SHARE[share]


def check_different(tables: Tables, claim: said.DifferentClaim) -> Answer:
    """Test each against the base with Welch's test, alone and with Holm's correction."""
    from scipy.stats import ttest_ind_from_stats

    base = Spread.from_cells(tables, find_cell(tables, claim.base), claim.sd_pct)
    found = find_cells(tables, claim.cells)
    p = {}
    for one in found:
        other = Spread.from_cells(tables, one, claim.sd_pct)
        p[one.row] = float(
            ttest_ind_from_stats(
                base.mean, base.sd, claim.runs, other.mean, other.sd, claim.runs, equal_var=False
            ).pvalue
        )
    alone = sum(value < ALPHA for value in p.values())
    together = _holm(sorted(p.values()))
    least = min(p, key=lambda row: p[row])
    text = (
        f"by Welch's test with {claim.runs} runs each {alone} of {len(p)} differ at 5 % taken alone and {together} "
        f"by Holm's correction for {len(p)}; the least p is {p[least]:.2g}, of {least}"
    )
    right = [is_enough(claim.share, count, len(p)) for count in (alone, together)]
    if all(right):
        return Status.FOLLOWS, text
    if right[1]:
        return Status.ONLY_IF, f"the {len(p)} comparisons are corrected for their number: {text}"
    return Status.FAILS, text


def _holm(p: list[float]) -> int:
    """Return how many of these p-values, least first, are significant."""
    for number, value in enumerate(p):
        if value >= ALPHA / (len(p) - number):
            return number
    return len(p)


def _range_pct(found: list[Cell]) -> Fraction:
    values = [one.quantity.value for one in found]
    return 100 * (max(values) - min(values)) / min(values)


def check_steady(tables: Tables, claim: said.SteadyClaim) -> Answer:
    """Compare the range of ``cells``, in percent of their least, with that of ``reference``."""
    found, reference = find_cells(tables, claim.cells), find_cells(tables, claim.reference)
    own, allowed = _range_pct(found), _range_pct(reference)
    text = (
        f"from {found[0].row} to {found[-1].row} it varies by {format_number(own, 1)} %; what is called steady, from "
        f"{reference[0].row} to {reference[-1].row}, varies by {format_number(allowed, 1)} %"
    )
    if own <= allowed:
        return Status.FOLLOWS, text
    first = next((i for i in range(len(found)) if _range_pct(found[i:]) <= allowed), len(found) - 1)
    return Status.FAILS, f"{text}, and it varies no more than that from {found[first].row} on"


def check_settles(tables: Tables, claim: said.SettlesClaim) -> Answer:
    """Compare the ranges before and after."""
    found = find_cells(tables, claim.cells)
    before = [one for one in found if int(one.row) <= claim.after]
    after = [one for one in found if int(one.row) > claim.after]
    first, then = _range_pct(before), _range_pct(after)
    text = (
        f"from {before[0].row} to {before[-1].row} it varies by {format_number(first, 1)} %, from {after[0].row} to "
        f"{after[-1].row} by {format_number(then, 1)} %"
    )
    return Status.FOLLOWS if then * STEADIER <= first else Status.FAILS, text
