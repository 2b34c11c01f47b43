"""Several tables in one number: the geometric mean of an arm's ratios to the baseline."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runoff.statistics.compare import analyse
from runoff.statistics.machines import analyse_machines
from runoff.statistics.values import Analysis, Observation, Question

Arms = Mapping[str, Sequence[Observation]]
"""One table: the observations by arm, in plan order."""


def geometric_mean(tables: Sequence[Arms], question: Question) -> Analysis:
    """Analyse the geometric means over ``tables``, all positive, of each block.

    A block counts for an arm if all tables have its observation there. Blocks stay the independent unit, so that what
    the tables share within a block needs no model. The direction is not asked for: this describes.
    """
    arms = list(dict.fromkeys(arm for table in tables for arm in table))
    means = {arm: _means([table.get(arm, ()) for table in tables]) for arm in arms}
    return analyse(means, replace(question, direction="none", tables=1))


def geometric_mean_over_machines(machines: Mapping[str, Sequence[Arms]], question: Question) -> Analysis:
    """Analyse the same over several ``machines``, by name, with the machine as the unit."""
    arms = list(dict.fromkeys(arm for tables in machines.values() for table in tables for arm in table))
    means = {name: {arm: _means([t.get(arm, ()) for t in tables]) for arm in arms} for name, tables in machines.items()}
    return analyse_machines(means, replace(question, direction="none", tables=1))


def _means(series: Sequence[Sequence[Observation]]) -> list[Observation]:
    by_block = [{o.block: o for o in observations} for observations in series]
    shared = set.intersection(*(set(blocks) for blocks in by_block))
    return [_mean([blocks[block] for blocks in by_block]) for block in sorted(shared)]


def _mean(of_block: Sequence[Observation]) -> Observation:
    value = math.exp(math.fsum(math.log(o.value) for o in of_block) / len(of_block))
    return Observation(value, sum(o.position for o in of_block), of_block[0].block)
