"""Randomised blocks: each takes every arm on every workload beside every load once, in an order drawn from the seed.

The arms of one workload beside one load stand together: what changes within a block hardly comes between them. Every
second block takes them the other way round than the block before. What a place in the order does to a sample, such as a
machine that warms up along each block, so falls on all arms alike, and is not left to the luck of a few draws.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One place in the run order."""

    id: str
    block: int
    """0-based; blocks before the first are for warming up."""
    position: int
    arm: int
    """Index into the plan's arms."""
    work: int
    """Index into the plan's workloads."""
    load: int
    """Index into the plan's loads."""
    seed: int
    """Perturbs a deterministic engine: the block's own, which arms share, or another of the block for an arm that is
    an earlier one again, as one seed would make the two a sample and its copy."""


def draw(
    arms: int,
    works: int,
    load_blocks: Sequence[int],
    seed: int,
    *,
    warmup: int = 0,
    twins: Mapping[int, int] | None = None,
) -> Sequence[Cell]:
    """Return the whole order; same numbers, same order, whatever was taken already.

    ``load_blocks`` has for each load in how many blocks it takes part, ``warmup`` is the number of blocks before them.
    ``twins`` has for each arm that is an earlier one again how many of it there are before.
    """
    cells: list[Cell] = []
    for block in range(-warmup, max(load_blocks)):
        generator = random.Random(f"{seed}/{block}")
        block_seed = generator.getrandbits(63)
        loads = [load for load, count in enumerate(load_blocks) if block < count]
        places = [(work, load) for load in loads for work in range(works)]
        generator.shuffle(places)
        for work, load in places:
            for arm in _order_arms(arms, block, f"{seed}/{block // 2}/{work}/{load}"):
                name = f"b{block}.w{work}.l{load}.a{arm}" if len(load_blocks) > 1 else f"b{block}.w{work}.a{arm}"
                before = (twins or {}).get(arm, 0)
                own = random.Random(f"{seed}/{block}/again {before}").getrandbits(63) if before else block_seed
                cells.append(Cell(name, block, len(cells), arm, work, load, own))
    return cells


def _order_arms(arms: int, block: int, seed: str) -> Sequence[int]:
    """Return the arms of one workload beside one load, the same both ways in two blocks."""
    turns = list(range(arms))
    random.Random(seed).shuffle(turns)
    return turns[:: -1 if block % 2 else 1]
