"""Rows of quantiles: against themselves, the stated number of runs, and the means printed elsewhere."""

from collections.abc import Iterator
from itertools import pairwise

from runoff.published.audit import feasible
from runoff.published.audit.findings import Finding, Status
from runoff.published.catalogue import Report, Table
from runoff.published.numbers import Number
from runoff.published.rows import MeansRow, QuantileRow

ORDER = "quantiles rise, and some number of runs can have them by JMP's rule"
RUNS = "the 10 % quantile is the minimum, and the 90 % quantile the maximum, exactly up to 9 runs"
MEAN = "the printed mean is one that runs with these quantiles can have"
MEDIAN = "medians differ in the same direction as means"

COLUMNS = ("minimum_s", "q10_s", "q25_s", "median_s", "q75_s", "q90_s", "maximum_s")


def _rows(report: Report) -> Iterator[tuple[Table, QuantileRow, str]]:
    for table in report.of_kind("quantiles"):
        for row in table.rows:
            assert isinstance(row, QuantileRow)
            yield table, row, f"{table.name}, {row.level}"


def check_rows(report: Report) -> Iterator[Finding]:
    """Check each row by itself."""
    for _, row, place in _rows(report):
        values = [getattr(row, column) for column in COLUMNS]
        if any(a.value > b.value for a, b in pairwise(values)):
            yield Finding(ORDER, place, Status.FAILS, "they do not rise: " + " ".join(map(str, values)))
            continue
        least = feasible.find_fewest_runs(row)
        if least > feasible.MOST_RUNS:
            text = f"no number of runs up to {feasible.MOST_RUNS} can have them: " + " ".join(map(str, values))
            yield Finding(ORDER, place, Status.FAILS, text)
        else:
            yield Finding(ORDER, place, Status.FOLLOWS, f"{least} runs or more can have them")


def check_runs(report: Report) -> Iterator[Finding]:
    """Check the stated number of runs against the ends of each row."""
    stated = report.about.least_runs
    if stated is None:
        return
    for _, row, place in _rows(report):
        ends = [
            f"{name} {row.cells[inner]} = {row.cells[outer]}"
            for name, inner, outer in (("10 %", "q10_s", "minimum_s"), ("90 %", "q90_s", "maximum_s"))
            if getattr(row, inner).value == getattr(row, outer).value
        ]
        if not ends or feasible.ends_coincide(stated):
            yield Finding(RUNS, place, Status.FOLLOWS, f"10 % and 90 % lie inside, so {stated} runs are possible")
            continue
        fewer = max(n for n in range(2, stated) if feasible.ends_coincide(n))
        text = (
            f"{' and '.join(ends)}, as of {fewer} runs or fewer, but at least {stated} are stated; that many can "
            "have it only if the two outermost runs at each such end agree in all printed digits"
        )
        yield Finding(RUNS, place, Status.FAILS, text)


def check_means(report: Report) -> Iterator[Finding]:
    """Check each printed mean against the quantiles of the same runs."""
    for table, row, place in _rows(report):
        other = _means_row(report, table)
        if other is None:
            continue
        mean = other.ck_s if row.level.endswith("ck") else other.vanilla_s
        yield _check_mean(row, place, mean, *feasible.find_possible_runs(row, report.about.least_runs))


def _check_mean(row: QuantileRow, place: str, printed: Number, least: int, most: int) -> Finding:
    n = feasible.find_run_count(row, printed.quantity, least, most)
    if n is not None:
        return Finding(MEAN, place, Status.FOLLOWS, f"{printed} is possible, with {n} runs for one")
    found = [
        bounds for runs in range(least, most + 1) if (bounds := feasible.compute_mean_bounds(row, runs)) is not None
    ]
    if not found:
        return Finding(MEAN, place, Status.FAILS, f"no number of runs from {least} to {most} can have these quantiles")
    low, high = min(bounds[0] for bounds in found), max(bounds[1] for bounds in found)
    text = f"printed {printed}; with {least} to {most} runs the mean is between {low:,.4f} and {high:,.4f}"
    return Finding(MEAN, place, Status.FAILS, text)


def check_medians(report: Report) -> Iterator[Finding]:
    """Compare which of two kernels on one machine has the lower median, and which the lower mean."""
    for table in report.of_kind("quantiles"):
        other = _means_row(report, table)
        levels = {row.level: row for row in table.rows if isinstance(row, QuantileRow)}
        ck = next((row for level, row in levels.items() if level.endswith("ck")), None)
        vanilla = next((row for level, row in levels.items() if level.endswith("vanilla")), None)
        if other is None or ck is None or vanilla is None:
            continue
        same = (ck.median_s.value < vanilla.median_s.value) == (other.ck_s.value < other.vanilla_s.value)
        text = f"medians {vanilla.median_s} to {ck.median_s}, means {other.vanilla_s} to {other.ck_s}"
        yield Finding(MEDIAN, table.name, Status.FOLLOWS if same else Status.FAILS, text)


def _means_row(report: Report, table: Table) -> MeansRow | None:
    of = report.tables.get(table.about.benchmark)
    row = of.row(table.about.cpu) if of is not None else None
    return row if isinstance(row, MeansRow) else None
