"""Whether what a published report says follows from what it prints."""

from collections.abc import Callable, Iterator, Mapping

from runoff.published.audit import contest, counters, graysky, hackbench, quantiles, relations
from runoff.published.audit.findings import Finding, Status
from runoff.published.catalogue import Report

__all__ = ["Finding", "Status", "audit"]

Rules = Callable[[Report], Iterator[Finding]]

RULES: Mapping[str, tuple[Rules, ...]] = {
    "means": (graysky.means,),
    "quantiles": (graysky.headings, quantiles.rows, quantiles.runs, quantiles.means, quantiles.medians),
    "hardware": (graysky.hardware,),
    "cores": (graysky.cores,),
    "contest": (contest.shares, contest.ratios, contest.loads),
    "hackbench": (hackbench.percents,),
    "counters": (counters.costs, counters.improvements),
    "compile": (counters.compile_improvements,),
}
"""By the kind of table that they are about."""


def audit(report: Report) -> tuple[Finding, ...]:
    """All findings about a report: its tables in their order, then what its text says of them. Raises UsageError."""
    kinds = dict.fromkeys(table.about.kind for table in report.tables.values())
    rules = [rule for kind in kinds for rule in RULES.get(kind, ())]
    return (*(finding for rule in rules for finding in rule(report)), *relations.claims(report))
