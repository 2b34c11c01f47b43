"""How many blocks a campaign should have for a verdict on each arm that has none yet."""

from collections.abc import Iterator
from dataclasses import dataclass

from runoff.analysis.values import Report
from runoff.results import IMPORTED

FARTHEST = 1000
"""Blocks that are looked ahead."""
USUAL = 10
"""Blocks for a campaign of one, whose noise nothing is known about."""


@dataclass(frozen=True, slots=True)
class NextBlocks:
    """One arm without a verdict in some headline tables."""

    arm: str
    tables: int
    """How many tables that are."""
    blocks: int | None
    """Blocks of the whole campaign that half of such campaigns need for all of them; None beyond ``FARTHEST``."""
    seconds: float | None
    """How long the further ones take; None if that is not known."""


def list_next_blocks(report: Report) -> Iterator[NextBlocks]:
    """Yield the arms that more blocks may decide, in plan order; nothing where that is no question of blocks.

    They are those of ``runoff resume --blocks``, which allows for the look in between.
    """
    # Numerics: whoever only shows a report must not wait for them.
    from runoff.decide.stopping import find_open, forecast_decision

    results = report.results
    if (
        not results.is_paired
        or results.engine == IMPORTED
        or len(results.machines) > 1
        or results.stopping.until is not None
        or len(results.samples) < results.planned
    ):
        return
    undecided = find_open(report)
    for arm in results.arms[1:]:
        mine = [(table, comparison) for table, comparison in undecided if comparison.arm == arm]
        if not mine:
            continue
        has_noise = all(comparison.n > 1 for _, comparison in mine)
        if not has_noise and results.blocks < USUAL:
            further: int | None = USUAL - results.blocks
        else:
            further = forecast_decision(report, mine, FARTHEST)[0]
        each_s = results.seconds_per_block
        yield NextBlocks(
            arm,
            len(mine),
            None if further is None else results.blocks + further,
            None if further is None or each_s is None else further * each_s,
        )
