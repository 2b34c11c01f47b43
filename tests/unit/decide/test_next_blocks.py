"""Blocks that an arm needs which is undecided in several tables."""

from runoff.decide.next_blocks import FARTHEST, _find_blocks
from runoff.statistics import Comparison
from runoff.statistics.values import Advice


def open_with(blocks: int) -> Comparison:
    return Comparison("arm", advice=Advice("difference", True, blocks, blocks, blocks))


def test_the_table_that_needs_most_decides() -> None:
    assert _find_blocks([open_with(20), open_with(70), open_with(40)]) == 70


def test_what_one_table_does_not_know_or_needs_beyond_reason_is_not_told() -> None:
    assert _find_blocks([open_with(20), Comparison("arm")]) is None
    assert _find_blocks([open_with(20), open_with(FARTHEST)]) == FARTHEST == 1000
    assert _find_blocks([open_with(20), open_with(FARTHEST + 1)]) is None
