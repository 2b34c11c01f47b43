"""When a campaign is looked at: between whole blocks, and after the last one."""

import pytest

from runoff.campaign.loop.queue import WaitingCells, choose_edges
from runoff.decide.looks import Look, Rule
from runoff.plan.order import Cell, draw


@pytest.mark.parametrize(("cells", "jobs"), [(2, 1), (2, 4)])
def test_looks_are_between_whole_blocks_when_nothing_runs(cells, jobs):
    order = draw(cells, 1, [30], seed=1)
    taken, looked = [], []

    def rule(blocks: int) -> Look:
        looked.append((blocks, len(taken)))
        return Look(blocks, (), (0, 0, 0), "done" if blocks >= 16 else None)

    waiting = WaitingCells(order, look=rule, edges=choose_edges(10, 30, -(-jobs // cells)))
    running: list[Cell] = []
    while True:
        while len(running) < jobs and (cell := waiting.next(idle=not running)) is not None:
            running.append(cell)
        if not running:
            break
        taken.append(running.pop(0))
    assert waiting.ended
    assert all(samples == blocks * cells for blocks, samples in looked)
    assert [blocks for blocks, _ in looked] == list(range(10, 17, -(-jobs // cells)))
    assert len(taken) == 16 * cells


def watching(ends: str) -> tuple[list[int], Rule]:
    """A rule that ends the campaign, and where it looked."""
    looked: list[int] = []

    def rule(blocks: int) -> Look:
        looked.append(blocks)
        return Look(blocks, (), (0, 0, 0), ends)

    return looked, rule


def test_a_campaign_that_was_killed_before_a_look_looks_first():
    order = draw(2, 1, [30], seed=1)
    looked, look_at = watching("x")
    waiting = WaitingCells(order[24:], look=look_at, edges=choose_edges(10, 30, 1))
    assert waiting.next(idle=True) is None
    assert (looked, waiting.ended) == ([12], True)


def test_the_last_block_is_looked_at_too():
    order = draw(2, 1, [10], seed=1)
    looked, look_at = watching("cap")
    waiting = WaitingCells(order[-1:], look=look_at, edges=choose_edges(10, 10, 1))
    assert waiting.next(idle=True) is order[-1]
    assert waiting.next(idle=False) is None
    assert not looked
    assert waiting.next(idle=True) is None
    assert looked == [10]


def test_blocks_on_several_machines_are_taken_side_by_side_but_none_beyond_a_look():
    order = draw(3, 1, [6], seed=1)
    looked, look_at = watching("done")
    waiting = WaitingCells(order, look=look_at, edges=[2, 4, 6])
    first, second = (waiting.next(idle=False, busy=busy) for busy in ((), {0}))
    assert (first, second) == (order[0], order[3])
    # Block 2 is beyond the look, which waits for what runs.
    assert waiting.next(idle=False, busy={0, 1}) is None
    rest = [waiting.next(idle=False, busy=()) for _ in range(4)]
    assert rest == [order[number] for number in (1, 2, 4, 5)]
    assert waiting.next(idle=False, busy={1}) is None
    assert not looked
    assert waiting.next(idle=True) is None
    assert (looked, waiting.ended) == ([2], True)
