"""The geometric mean of an arm's ratios to the baseline over workloads and loads: a row, or why there is none."""

from collections.abc import Sequence

from runoff.analysis.table import Table
from runoff.analysis.values import Overall
from runoff.statistics import Observation, Question, geometric_mean, geometric_mean_over_machines
from runoff.units import TIME_EXPONENTS


def build(tables: Sequence[Table], asked: Question, arms: tuple[str, ...]) -> Overall | None:
    """Return the geometric means; None with fewer than two workloads and loads, or metrics of different kinds."""
    first: dict[str, Table] = {}
    for table in tables:
        if table.is_judged and table.metric.headline:
            first.setdefault(table.place, table)
    chosen = tuple(first.values())
    if len(chosen) < 2 or len({_find_kind(table) for table in chosen}) > 1:
        return None
    if len({table.metric.direction for table in chosen}) > 1:
        return Overall(chosen, None, "in some of the first headline metrics less is better, in others more")
    if not asked.paired:
        return Overall(chosen, None, "runs of different workloads do not belong together")
    if any(point.value <= 0 for table in chosen for point in table.points):
        return Overall(chosen, None, "some values are not positive, and these have no ratios")
    machines = dict.fromkeys(name for table in chosen for name in table.analysis.machines)
    if machines:
        by_machine = {name: [_observe(table.select_machine(name), arms) for table in chosen] for name in machines}
        return Overall(chosen, geometric_mean_over_machines(by_machine, asked), "")
    return Overall(chosen, geometric_mean([_observe(table, arms) for table in chosen], asked), "")


def _observe(table: Table, arms: tuple[str, ...]) -> dict[str, list[Observation]]:
    return {arm: [Observation(p.value, p.position, p.block) for p in table.points if p.arm == arm] for arm in arms}


def _find_kind(table: Table) -> tuple[bool, str]:
    """Return what has to be equal for a mean of two changes to mean something: time for work is not a tail of waits."""
    unit = "time" if table.metric.unit in TIME_EXPONENTS else table.metric.unit
    return table.is_percentile, unit
