"""Randomised blocks: each takes every arm on every workload with every load once, in an order drawn from the seed.

The arms of one workload with one load are taken one after the other, so that changes within a block hardly affect their
comparison. Every second block takes them in the reverse order of the block before. So an effect of the place in the
order, such as a machine that warms up along each block, is the same for all arms, and does not depend on the luck of a
few draws.

Arms that run on different kernels of the host need a boot for each. So a block takes all samples of one kernel, then
those of the next. The order of kernels is drawn once, and every second block takes them in reverse: the last kernel of
a block is the first of the next, which saves a boot.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One place in the run order."""

    id: str
    block: int
    """Number of the block, 0-based; blocks before the first are for warming up."""
    position: int
    arm: int
    """Index into the plan's arms."""
    work: int
    """Index into the plan's workloads."""
    load: int
    """Index into the plan's loads."""
    seed: int
    """Seed that perturbs a deterministic engine. Arms share the block's own; an arm that repeats an earlier one has
    another, because with the same seed its sample would be a mere copy."""


def draw(
    arms: int,
    works: int,
    load_blocks: Sequence[int],
    seed: int,
    *,
    warmup: int = 0,
    twins: Mapping[int, int] | None = None,
    kernels: Sequence[str] = (),
) -> Sequence[Cell]:
    """Return the whole order: the same numbers give the same order, whatever was taken already.

    ``load_blocks`` has for each load the number of blocks that it takes part in, ``warmup`` is the number of blocks
    before them. ``twins`` has for each arm that repeats an earlier one how many equal ones come before it.
    ``kernels`` has the kernel of each arm, if kernels have to be booted for them.
    """
    cells: list[Cell] = []
    for block in range(-warmup, max(load_blocks)):
        generator = random.Random(f"{seed}/{block}")
        block_seed = generator.getrandbits(63)
        loads = [load for load, count in enumerate(load_blocks) if block < count]
        places = [(work, load) for load in loads for work in range(works)]
        generator.shuffle(places)
        for work, load, arm in _order_places(arms, block, seed, places, kernels or [""] * arms):
            name = f"b{block}.w{work}.l{load}.a{arm}" if len(load_blocks) > 1 else f"b{block}.w{work}.a{arm}"
            before = (twins or {}).get(arm, 0)
            own = random.Random(f"{seed}/{block}/again {before}").getrandbits(63) if before else block_seed
            cells.append(Cell(name, block, len(cells), arm, work, load, own))
    return cells


def _order_places(
    arms: int, block: int, seed: int, places: Sequence[tuple[int, int]], kernels: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """Yield work, load and arm of each sample of a block: by kernel, then by work and load in the order given."""
    distinct = list(dict.fromkeys(kernels))
    for number in _order_arms(len(distinct), block, f"{seed}/kernels"):
        for work, load in places:
            for arm in _order_arms(arms, block, f"{seed}/{block // 2}/{work}/{load}"):
                if kernels[arm] == distinct[number]:
                    yield work, load, arm


def _order_arms(arms: int, block: int, seed: str) -> Sequence[int]:
    """Return the order of the arms of one workload with one load, or of kernels; a second block has the reverse of the
    first."""
    turns = list(range(arms))
    random.Random(seed).shuffle(turns)
    return turns[:: -1 if block % 2 else 1]
