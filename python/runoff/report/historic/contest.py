"""The tables of contest 0.61, by Con Kolivas and Aggelos Economopoulos.

Its columns: number of runs, mean time, the compile's CPU time in percent of that, what the load has done, the load's
CPU time in percent of the load's own time, and the time as a ratio to that without a load.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runoff.analysis.values import Report
from runoff.errors import UsageError
from runoff.results import NO_LOAD

Accounting = Literal["reaped", "cgroup"]
"""What counts as a load's CPU time: what it had waited for, as contest saw it, or all that it used. The ratio is to
the same arm without a load, as contest had it, or to the baseline without a load."""

KERNEL = 15
"""Narrowest first column."""
COLUMN = 8
WITHOUT_SUFFIX = ("io_other", "cacherun")
WHOLE_SECONDS = 10.0
"""contest printed no fractions of a second; shorter times would lose too much by that."""


@dataclass(frozen=True, slots=True)
class Means:
    """Means of one arm on one workload beside one load."""

    runs: int
    time_s: float
    cpu_s: float
    loads: float
    load_cpu_s: float
    load_s: float


def render(report: Report, accounting: Accounting) -> str:
    """Return one table a workload and load; ASCII. Raises UsageError if the campaign has no loads."""
    if not any(report.results.loads):
        raise UsageError("the campaign has no loads, and contest's table is about them: compare with --load")
    return "\n".join(_lines(report, accounting)) + "\n"


def _lines(report: Report, accounting: Accounting) -> Iterator[str]:
    results = report.results
    width = max(KERNEL, max(map(len, results.arms)) + 2)
    for number, (workload, load) in enumerate((w, load) for w in results.workloads for load in results.loads):
        if number:
            yield ""
        place = f"{workload}, " if len(results.workloads) > 1 else ""
        yield f"{place}{_name(load)}:"
        yield "Kernel".ljust(width) + "[runs]   " + _columns("Time", "CPU%", "Loads", "LCPU%", "Ratio")
        for arm in results.arms:
            yield _row(report, accounting, (workload, load, arm), width)


def _row(report: Report, accounting: Accounting, place: tuple[str, str, str], width: int) -> str:
    workload, load, arm = place
    means = _means(report, accounting, workload, load, arm)
    if means is None:
        return arm.ljust(width) + "0".rjust(6) + "   " + _columns("-", "-", "-", "-", "-")
    own = _means(report, accounting, workload, NO_LOAD, arm if accounting == "reaped" else report.baseline)
    time = f"{means.time_s:.0f}" if means.time_s >= WHOLE_SECONDS else f"{means.time_s:.3g}"
    cells = _columns(
        time,
        f"{100 * means.cpu_s / means.time_s:.1f}",
        f"{means.loads:.1f}",
        f"{100 * means.load_cpu_s / means.load_s:.1f}" if means.load_s else "0.0",
        f"{means.time_s / own.time_s:.2f}" if own is not None else "-",
    )
    return arm.ljust(width) + str(means.runs).rjust(6) + "   " + cells


def _columns(*cells: str) -> str:
    return "".join(cell.ljust(COLUMN) for cell in cells).rstrip()


def _name(load: str) -> str:
    """Return the name as contest prints it: process_load, io_load, but io_other and cacherun; parameters stay."""
    name, colon, rest = load.partition(":")
    named = "no_load" if name == NO_LOAD else name if name in WITHOUT_SUFFIX else f"{name}_load"
    return f"{named}{colon}{rest}"


def _means(report: Report, accounting: Accounting, workload: str, load: str, arm: str) -> Means | None:
    tables = {table.metric.name: table for table in report.tables if (table.workload, table.load) == (workload, load)}

    def mean(metric: str) -> float:
        table = tables.get(metric)
        return (table.find_mean(arm) if table is not None else None) or 0.0

    elapsed = tables.get("elapsed_s")
    summary = None if elapsed is None else elapsed.analysis.summaries.get(arm)
    if summary is None or not summary.mean:
        return None
    used = mean("load_user_s") + mean("load_system_s")
    return Means(
        runs=summary.n,
        time_s=summary.mean,
        cpu_s=mean("user_s") + mean("system_s"),
        loads=mean("load_units"),
        load_cpu_s=mean("load_reaped_cpu_s") if accounting == "reaped" else used,
        # A load is asked to end when the work has ended, and its own time lasts until it has.
        load_s=mean("load_elapsed_s") if accounting == "reaped" else summary.mean,
    )
