"""The tables of the counters and of the compile beside them: cost and improvement."""

from collections.abc import Iterator

from runoff.published.audit.findings import Finding, check_derived
from runoff.published.catalogue import Report
from runoff.published.rows import CompileRow, CountersRow

COST = "Cost is the time divided by the number of processes"
IMPROVEMENT = "Impr% is what 2.6.31-bfs saves of 2.6.31's time, in percent of that"

KERNELS = {"k2631": "2.6.31", "bfs": "2.6.31-bfs", "k2632": "2.6.32-rc5"}


def check_costs(report: Report) -> Iterator[Finding]:
    """Check the cost of every kernel at every number of processes."""
    for table in report.of_kind("counters"):
        for row in table.rows:
            assert isinstance(row, CountersRow)
            for key, kernel in KERNELS.items():
                quantity = row.find_quantity(f"{key}_s") / row.processes.with_step(row.processes.step * 0)
                how = f"{row.cells[f'{key}_s']} / {row.processes}"
                place = f"{table.name}, {row.processes}, {kernel}"
                yield check_derived(COST, place, getattr(row, f"{key}_cost_s"), quantity, how)


def check_improvements(report: Report) -> Iterator[Finding]:
    """Check Impr% of the counters."""
    yield from _check_improvements(report, "counters")


def check_compile_improvements(report: Report) -> Iterator[Finding]:
    """Check Impr% of the compile."""
    yield from _check_improvements(report, "compile")


def _check_improvements(report: Report, kind: str) -> Iterator[Finding]:
    for table in report.of_kind(kind):
        for row in table.rows:
            assert isinstance(row, (CountersRow, CompileRow))
            how = f"100 x ({row.k2631_s} - {row.bfs_s}) / {row.k2631_s}"
            yield check_derived(IMPROVEMENT, f"{table.name}, {row.key}", row.impr_pct, row.gain, how)
