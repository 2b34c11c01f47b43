"""Checks whether the statements of a published report follow from its printed numbers."""

from collections.abc import Callable, Iterator, Mapping

from runoff.published.audit import contest, counters, graysky, hackbench, quantiles, relations
from runoff.published.audit.findings import Finding, Status
from runoff.published.catalogue import Report

__all__ = ["Finding", "Status", "audit"]

Rules = Callable[[Report], Iterator[Finding]]

RULES: Mapping[str, tuple[Rules, ...]] = {
    "means": (graysky.check_means,),
    "quantiles": (
        graysky.check_headings,
        quantiles.check_rows,
        quantiles.check_runs,
        quantiles.check_means,
        quantiles.check_medians,
    ),
    "hardware": (graysky.check_hardware,),
    "cores": (graysky.check_cores,),
    "contest": (contest.check_shares, contest.check_ratios, contest.check_loads),
    "hackbench": (hackbench.check_percents,),
    "counters": (counters.check_costs, counters.check_improvements),
    "compile": (counters.check_compile_improvements,),
}
"""The checks for each kind of table."""


def audit(report: Report) -> tuple[Finding, ...]:
    """Return all findings about a report: its tables in order, then its text. Raises UsageError."""
    kinds = dict.fromkeys(table.about.kind for table in report.tables.values())
    rules = [rule for kind in kinds for rule in RULES.get(kind, ())]
    return (*(finding for rule in rules for finding in rule(report)), *relations.check_claims(report))
