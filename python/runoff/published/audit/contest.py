"""contest's tables: CPU use, ratios, counts of loads."""

from collections.abc import Iterator
from fractions import Fraction

from runoff.published.audit.findings import Finding, Status, check_derived
from runoff.published.catalogue import Report
from runoff.published.numbers import Fit, Number, Quantity, find_fit, format_number
from runoff.published.rows import ContestRow

CPU = "CPU% is a whole number of seconds of CPU time in percent of Time"
LOAD_CPU = "LCPU% is a whole number of seconds of CPU time in percent of the load's own time"
TOGETHER = "CPU% and LCPU% together are one CPU at most"
RATIO = "Ratio is Time in multiples of the same kernel's Time under no_load"
LOADS = "Loads is a mean of whole counts over the runs"
RAN = "a load that holds up the compile has used CPU time"

ALONE = ("no_load", "cacherun")
"""Tables without a load."""

LONGEST_END_S = 3
"""Seconds after the compile until a load has ended at the latest, as contest's logs show."""

HELD_UP = Fraction(5, 100)


def _rows(report: Report) -> Iterator[tuple[str, ContestRow, str]]:
    for table in report.of_kind("contest"):
        for row in table.rows:
            assert isinstance(row, ContestRow)
            yield table.name, row, f"{table.name}, {row.kernel}"


def check_shares(report: Report) -> Iterator[Finding]:
    """Check CPU% and LCPU%."""
    for _, row, place in _rows(report):
        yield _check_whole_seconds(CPU, place, row.cpu_pct, int(row.time_s.value), 0)
        if row.lcpu_pct.value:
            yield _check_whole_seconds(LOAD_CPU, place, row.lcpu_pct, int(row.time_s.value), LONGEST_END_S)
        if report.about.one_cpu:
            both = row.cpu_pct.value + row.lcpu_pct.value
            text = f"{row.cpu_pct} + {row.lcpu_pct} = {format_number(both, 1)}; one CPU by {report.about.one_cpu}"
            yield Finding(TOGETHER, place, Status.FOLLOWS if both <= 100 else Status.FAILS, text)


def _check_whole_seconds(rule: str, place: str, printed: Number, time_s: int, later_s: int) -> Finding:
    """Check whether whole seconds can give ``printed`` of a time that is at most ``later_s`` longer."""
    for total in range(time_s, time_s + later_s + 1):
        for used in _bound_candidates(printed, total):
            if find_fit(printed, Quantity.exactly(Fraction(100 * used, total))) is Fit.ROUNDED:
                text = f"printed {printed}; {used} s of {total} s"
                if total == time_s:
                    return Finding(rule, place, Status.FOLLOWS, text)
                longer = f"the load ran {total - time_s} s longer than the compile's {time_s} s: {text}"
                return Finding(rule, place, Status.ONLY_IF, longer)
    near = " and ".join(
        f"{used} s give {format_number(Fraction(100 * used, time_s), 2)}" for used in _bound_candidates(printed, time_s)
    )
    return Finding(rule, place, Status.FAILS, f"printed {printed} of {time_s} s; {near}")


def _bound_candidates(printed: Number, total: int) -> tuple[int, int]:
    used = int(printed.value * total / 100)
    return used, used + 1


def check_ratios(report: Report) -> Iterator[Finding]:
    """Check the ratio against the whole seconds that are printed."""
    alone = report.tables.get(ALONE[0])
    for _, row, place in _rows(report):
        own = alone.row(row.kernel) if alone is not None else None
        if isinstance(own, ContestRow):
            quantity = Quantity.exactly(row.time_s.value / own.time_s.value)
            yield check_derived(RATIO, place, row.ratio, quantity, f"{row.time_s} / {own.time_s}")


def check_loads(report: Report) -> Iterator[Finding]:
    """Check the counts of loads, and whether they ran."""
    for table, row, place in _rows(report):
        if table in report.about.whole_loads:
            yield _check_counts(place, row)
        if table not in ALONE:
            yield _check_ran(place, row)


def _check_counts(place: str, row: ContestRow) -> Finding:
    runs = int(row.runs.value)
    near = round(row.loads.value * runs)
    for total in (near, near - 1, near + 1):
        mean = Fraction(total, runs)
        # C rounds a half to the even digit or by the binary number: both are allowed.
        if total >= 0 and abs(mean - row.loads.value) <= row.loads.step / 2:
            return Finding(LOADS, place, Status.FOLLOWS, f"printed {row.loads}; {total} in {runs} runs")
    text = f"printed {row.loads}; {near} in {runs} runs are {format_number(Fraction(near, runs), 2)}"
    return Finding(LOADS, place, Status.FAILS, text)


def _check_ran(place: str, row: ContestRow) -> Finding:
    held_up = row.ratio.value - 1
    text = f"printed LCPU% {row.lcpu_pct} and Loads {row.loads}; the compile took {row.ratio} times as long as alone"
    if row.lcpu_pct.value or held_up <= HELD_UP:
        return Finding(RAN, place, Status.FOLLOWS, text)
    return Finding(RAN, place, Status.FAILS, f"{text}, so the load ran and what it used was not counted")
