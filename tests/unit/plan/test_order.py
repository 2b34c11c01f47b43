"""Randomised blocks."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from runoff.plan.order import Cell, draw

SMALL = st.integers(min_value=1, max_value=6)


@given(SMALL, SMALL, SMALL, SMALL, st.integers(min_value=0, max_value=2**63 - 1))
def test_each_block_has_every_arm_on_every_workload_with_every_load_once(
    arms: int, works: int, loads: int, blocks: int, seed: int
) -> None:
    cells = draw(arms, works, [blocks] * loads, seed)
    everything = set(itertools.product(range(arms), range(works), range(loads)))
    for block in range(blocks):
        mine = [(cell.arm, cell.work, cell.load) for cell in cells if cell.block == block]
        assert len(mine) == len(everything)
        assert set(mine) == everything
    assert [cell.position for cell in cells] == list(range(len(cells)))
    assert len({cell.id for cell in cells}) == len(cells)


@given(SMALL, SMALL, SMALL, SMALL, st.integers(min_value=0, max_value=2**63 - 1))
def test_the_arms_of_one_workload_with_one_load_stand_together(
    arms: int, works: int, loads: int, blocks: int, seed: int
) -> None:
    cells = draw(arms, works, [blocks] * loads, seed)
    for first in range(0, len(cells), arms):
        together = cells[first : first + arms]
        assert len({(cell.block, cell.work, cell.load) for cell in together}) == 1
        assert {cell.arm for cell in together} == set(range(arms))


@given(SMALL, SMALL, SMALL, SMALL, st.integers(min_value=0, max_value=2**63 - 1))
def test_same_seed_same_order_and_more_blocks_do_not_change_the_first(
    arms: int, works: int, loads: int, blocks: int, seed: int
) -> None:
    fewer = list(draw(arms, works, [blocks] * loads, seed))
    assert list(draw(arms, works, [blocks + 1] * loads, seed))[: len(fewer)] == fewer


def test_all_cells_of_a_block_share_its_seed_and_blocks_differ() -> None:
    cells = draw(3, 2, [4], seed=7)
    seeds = [{cell.seed for cell in cells if cell.block == block} for block in range(4)]
    assert all(len(mine) == 1 for mine in seeds)
    assert len(set.union(*seeds)) == 4


def test_an_arm_that_is_there_again_has_seeds_of_its_own_in_the_same_order() -> None:
    plain, twins = draw(4, 2, [6], seed=7, warmup=1), draw(4, 2, [6], seed=7, warmup=1, twins={1: 1, 3: 2})
    assert [replace(cell, seed=0) for cell in twins] == [replace(cell, seed=0) for cell in plain]
    for block in range(-1, 6):
        by_arm = [{cell.seed for cell in twins if (cell.block, cell.arm) == (block, arm)} for arm in range(4)]
        assert [len(seeds) for seeds in by_arm] == [1, 1, 1, 1]
        assert by_arm[0] == by_arm[2] == {cell.seed for cell in plain if cell.block == block}
        assert len(set.union(*by_arm)) == 3
    assert len({cell.seed for cell in twins}) == 3 * 7


def test_every_arm_comes_first_about_equally_often() -> None:
    # 3,000 blocks of 3 arms: binomial(3000, 1/3) has SD 25.8; five of them.
    cells = draw(3, 1, [3000], seed=1)
    first = [cell.arm for cell in cells if cell.position % 3 == 0]
    for arm in range(3):
        assert abs(first.count(arm) - 1000) < 5 * 25.8


def test_a_load_may_be_in_some_blocks_only_and_the_others_keep_their_order() -> None:
    cells = draw(2, 1, [1, 3], seed=5)
    assert [sorted({cell.load for cell in cells if cell.block == block}) for block in range(3)] == [[0, 1], [1], [1]]
    assert [cell for cell in cells if cell.block == 0] == list(draw(2, 1, [1, 1], seed=5))


def test_blocks_for_warming_up_come_first_and_change_nothing_else() -> None:
    plain, warmed = draw(3, 1, [2], seed=5), draw(3, 1, [2], seed=5, warmup=2)
    assert [cell.block for cell in warmed] == [-2] * 3 + [-1] * 3 + [0] * 3 + [1] * 3
    assert [(cell.id, cell.seed) for cell in warmed[6:]] == [(cell.id, cell.seed) for cell in plain]


def test_workloads_and_loads_come_in_every_order_and_their_arms_each_in_one_of_their_own() -> None:
    # 2,000 blocks: each of 24 orders of two workloads beside two loads is due 83 times, SD 8.9; five of them.
    cells = draw(2, 2, [2000, 2000], seed=1)
    blocks = [cells[first : first + 8] for first in range(0, len(cells), 8)]
    outer = Counter(tuple((cell.work, cell.load) for cell in block[::2]) for block in blocks)
    assert len(outer) == 24
    assert all(abs(count - 2000 / 24) < 5 * 8.9 for count in outer.values())
    # Whether the arms of one workload change places says nothing of the others: 16 ways, each due in 62 of the 1,000
    # blocks that are drawn, SD 7.7.
    inner = Counter(tuple(turns(block)[key][0] for key in sorted(turns(block))) for block in blocks[::2])
    assert len(inner) == 16
    assert all(abs(count - 62.5) < 5 * 7.7 for count in inner.values())


def turns(cells: Sequence[Cell]) -> dict[tuple[int, int], list[int]]:
    """The arms of one block in their order, by workload and load."""
    found: dict[tuple[int, int], list[int]] = {}
    for cell in cells:
        found.setdefault((cell.work, cell.load), []).append(cell.arm)
    return found


@given(SMALL, SMALL, SMALL, SMALL, SMALL, st.integers(min_value=0, max_value=2**63 - 1))
def test_every_second_block_takes_the_arms_the_other_way_round(
    arms: int, works: int, loads: int, pairs: int, warmup: int, seed: int
) -> None:
    """A load that ends sooner changes nothing for the others, even when warming up."""
    cells = draw(arms, works, [2 * pairs, *[2 * pairs - 1] * (loads - 1)], seed, warmup=2 * warmup)
    by_block = {
        block: turns([cell for cell in cells if cell.block == block]) for block in range(-2 * warmup, 2 * pairs)
    }
    for block in range(-2 * warmup, 2 * pairs, 2):
        there, back = by_block[block], by_block[block + 1]
        assert back.keys() <= there.keys()
        assert all(back[key] == there[key][::-1] for key in back)


def test_a_step_along_a_block_falls_on_all_arms_alike_in_an_even_number_of_blocks() -> None:
    for seed in range(100):
        cells = draw(5, 2, [10], seed)
        places = {(arm, work): 0 for arm in range(5) for work in range(2)}
        for block in range(10):
            for (work, _), order in turns([cell for cell in cells if cell.block == block]).items():
                for place, arm in enumerate(order):
                    places[arm, work] += place
        assert set(places.values()) == {20}


def test_the_order_of_a_seed_does_not_change() -> None:
    """A campaign that is resumed by a later runoff must find its places again; see the journal's format."""
    cells = draw(2, 2, [2, 1], seed=42, warmup=1)
    assert [cell.id for cell in cells] == [
        "b-1.w0.l1.a0", "b-1.w0.l1.a1", "b-1.w1.l1.a1", "b-1.w1.l1.a0",
        "b-1.w1.l0.a0", "b-1.w1.l0.a1", "b-1.w0.l0.a1", "b-1.w0.l0.a0",
        "b0.w1.l1.a0", "b0.w1.l1.a1", "b0.w0.l1.a0", "b0.w0.l1.a1",
        "b0.w1.l0.a0", "b0.w1.l0.a1", "b0.w0.l0.a0", "b0.w0.l0.a1",
        "b1.w0.l0.a1", "b1.w0.l0.a0", "b1.w1.l0.a1", "b1.w1.l0.a0",
    ]  # fmt: skip
    assert [cell.seed for cell in (cells[0], cells[-1])] == [5864721252619656550, 4863979887370138501]
