"""How long a block takes, by the times in a journal."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Row
from runoff.campaign.pace import seconds_per_block
from runoff.engines.outcome import VoidSample
from runoff.plan.order import draw
from runoff.results import Conditions

EPOCH = datetime(2026, 1, 2, tzinfo=UTC)


def rows(folder: Path, *spans: tuple[float, float | None] | None) -> list[Row]:
    """Rows of a journal: blocks with two samples each, which began and lasted the given seconds."""
    cells = draw(2, 1, [len(spans) // 2 + 1], seed=1)
    with Journal.create(folder / "c", {}) as journal:
        for cell, span in zip(cells, spans, strict=False):
            began = None if span is None else Conditions((EPOCH + timedelta(seconds=span[0])).isoformat(), 0.0)
            journal.add(cell, "a", "w", "", VoidSample("x"), began, seconds=None if span is None else span[1])
        return journal.rows()


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 2), (2, 3)], 5),
        # An hour between two parts of the campaign does not count.
        ([(0, 2), (3600, 3), (3603, 1), (3604, 1), (3605, 2), (3607, 1)], 3),
        # Two at a time: each half a second of every second.
        ([(0, 4), (0, 4), (4, 2), (4, 2)], 3),
        # A block whose sample outlasts the next block: 1 + 0.5 + (2 and 0.5 shared), and 1 shared.
        ([(0, 1), (1, 4), (3, 1), (4, 1)], (1 + 2 + 1 + 1) / 2),
        ([(0, 2), (2, 3), (5, 100)], 5),
        ([(0, 0), (0, 0)], 0),
        ([(0, 2)], None),
        ([(0, 2), None], None),
        ([(0, 2), (2, None)], None),
        ([(0, 2), None, (9, 1), (10, 1)], 2),
        ([], None),
    ],
)
def test_the_time_of_a_block(tmp_path: Path, spans: list[tuple[float, float | None] | None], expected: float) -> None:
    sizes = dict.fromkeys(range(len(spans) // 2 + 1), 2)
    found = seconds_per_block(rows(tmp_path, *spans), sizes)
    assert found == (None if expected is None else pytest.approx(expected))


def test_all_times_add_up_to_the_time_that_passed(tmp_path: Path) -> None:
    spans = [(0.0, 3.0), (1.0, 5.5), (3.0, 1.0), (4.25, 2.0), (6.0, 0.5), (6.5, 4.0)]
    taken = rows(tmp_path, *spans)
    each = [seconds_per_block(taken, {block: 2}) for block in range(3)]
    assert sum(seconds for seconds in each if seconds is not None) == pytest.approx(10.5)
