"""How many blocks a campaign should have for a verdict on each arm that has none yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runoff.analysis.values import Report
from runoff.results import IMPORTED
from runoff.statistics import Comparison

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
    """Blocks of the whole campaign with which each has ``DECIDED`` chance of a verdict; None beyond ``FARTHEST``."""
    seconds: float | None
    """How long the further ones take; None if that is not known."""
    is_measured: bool = True
    """Whether there is a noise that tells so; else it is the usual number."""


def list_next_blocks(report: Report) -> Iterator[NextBlocks]:
    """Yield the arms that more blocks may decide, in plan order; none where more blocks cannot decide it.

    They are those of ``runoff resume --blocks``, which allows for the look in between.
    """
    # Numerics take long to import, and a report alone does not need them.
    from runoff.decide.stopping import find_open

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
        is_measured = all(comparison.n > 1 for _, comparison in mine) or results.blocks >= USUAL
        blocks = _find_blocks([comparison for _, comparison in mine]) if is_measured else USUAL
        each_s = results.seconds_per_block
        seconds = None if blocks is None or each_s is None else (blocks - results.blocks) * each_s
        yield NextBlocks(arm, len(mine), blocks, seconds, is_measured)


def _find_blocks(comparisons: Sequence[Comparison]) -> int | None:
    """Return the blocks that the one needs that needs the most."""
    known = [each.advice.blocks for each in comparisons if each.advice is not None]
    return max(known) if len(known) == len(comparisons) and max(known) <= FARTHEST else None
