"""What else differs where an arm is better or worse: counters that are separated from the baseline's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runoff.analysis.table import Table
from runoff.analysis.values import Report
from runoff.results import PROBE_COST, Metric
from runoff.statistics import Verdict

MOST = 6
"""Counters a panel lists."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One counter, a table without a direction."""

    table: Table
    size: float
    """Arm less baseline in standard deviations of one run within a block; infinite if nothing varies."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One arm on one workload beside one load, where a headline metric separates it from the baseline."""

    arm: str
    place: str
    short_place: str
    load: str
    workload: str
    reasons: tuple[Reason, ...]
    """The largest first, at most `MOST`."""
    separated: int
    """How many counters are."""
    compared: int
    """How many counters both arms have."""
    alpha: float
    """Error of the separation of each."""

    @property
    def chance(self) -> float:
        """How many counters would be separated if the arms did not differ at all, at most."""
        return self.compared * self.alpha


def build(report: Report) -> tuple[Explanation, ...]:
    """Return panels in the order of tables and arms; none where no arm is better or worse."""
    groups: dict[tuple[str, str], list[Table]] = {}
    for table in report.tables:
        groups.setdefault((table.workload, table.load), []).append(table)
    arms = report.results.arms[1:]
    return tuple(panel for tables in groups.values() for arm in arms for panel in _panel(arm, tables))


def _panel(arm: str, tables: Sequence[Table]) -> Iterator[Explanation]:
    if not any(table.metric.headline and _judge_counter(table, arm) for table in tables):
        return
    counters = [table for table in tables if _is_explanation(table.metric)]
    compared = [table for table in counters if table.analysis.comparisons[arm].difference is not None]
    if not compared:
        return
    sizes = [(table, c.effect) for table in compared if (c := table.analysis.comparisons[arm]).separated]
    known = [Reason(table, size) for table, size in sizes if size is not None]
    known.sort(key=lambda reason: -abs(reason.size))
    first = tables[0]
    yield Explanation(
        arm, first.place, first.short_place, first.load, first.workload,
        reasons=tuple(known[:MOST]), separated=len(known), compared=len(compared),
        alpha=first.analysis.question.alpha,
    )  # fmt: skip


def _is_explanation(metric: Metric) -> bool:
    """Return whether the metric can explain a difference: the cost of observing cannot."""
    return metric.direction == "none" and not metric.headline and metric.name != PROBE_COST


def _judge_counter(table: Table, arm: str) -> bool:
    return table.analysis.comparisons[arm].verdict in (Verdict.BETTER, Verdict.WORSE)
