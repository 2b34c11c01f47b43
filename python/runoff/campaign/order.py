"""Randomised blocks: each block takes every arm on every workload once, in an order drawn from the seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One place in the run order."""

    id: str
    block: int
    position: int
    arm: int
    """Index into the plan's arms."""
    work: int
    """Index into the plan's workloads."""
    seed: int
    """The block's seed, the same for all its cells: common random numbers in a deterministic engine."""


def draw(arms: int, works: int, blocks: int, seed: int) -> Sequence[Cell]:
    """The whole order; same numbers, same order, whatever was taken already."""
    cells: list[Cell] = []
    for block in range(blocks):
        generator = random.Random(f"{seed}/{block}")
        block_seed = generator.getrandbits(63)
        pairs = [(arm, work) for work in range(works) for arm in range(arms)]
        generator.shuffle(pairs)
        for arm, work in pairs:
            cells.append(Cell(f"b{block}.w{work}.a{arm}", block, len(cells), arm, work, block_seed))
    return cells
