"""Work whose first run did something that no later run had to do: a build of what is built already afterwards."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runoff.analysis.table import Table
from runoff.engine_kinds import ENGINES
from runoff.results import Results

LEAST_OTHERS = 4
LEAST_TIMES = 1.5
"""The smallest factor between the first run and the later run that is nearest to it."""


@dataclass(frozen=True, slots=True)
class UnlikeFirstRun:
    """The first run of a workload is far from all later ones of all arms."""

    table: Table
    value: float
    others: tuple[float, float]
    """The smallest and largest value of the later runs."""
    machine: str
    """Empty in a campaign of one machine."""


def find_unlike_first_runs(results: Results, tables: Sequence[Table]) -> Iterator[UnlikeFirstRun]:
    """Yield what a workload's first run shows in the first of its headline tables that shows it.

    Only runs on the host leave something for the next: the lab's begin in copies of one guest. The first run is farther
    from all others than these are from each other.
    """
    engine = ENGINES.get(results.engine)
    if engine is None or not engine.is_this_machine or not results.is_paired:
        return
    found: set[tuple[str, str]] = set()
    for table in tables:
        for machine in results.machines or ("",):
            unlike = _find_in(results, table, machine) if table.metric.headline else None
            if unlike is not None and (table.workload, machine) not in found:
                found.add((table.workload, machine))
                yield unlike


def _find_in(results: Results, table: Table, machine: str) -> UnlikeFirstRun | None:
    runs = [s.position for s in results.samples if s.workload == table.workload and s.machine == machine]
    mine = [point for point in table.points if point.machine == machine]
    values = [point.value for point in sorted(mine, key=lambda point: point.position)]
    if len(values) <= LEAST_OTHERS or min(values) <= 0 or min(point.position for point in mine) != min(runs):
        return None
    first, low, high = values[0], min(values[1:]), max(values[1:])
    apart = max(math.log(first / high), math.log(low / first))
    if apart <= max(math.log(LEAST_TIMES), math.log(high / low)):
        return None
    return UnlikeFirstRun(table, first, (low, high), machine)
