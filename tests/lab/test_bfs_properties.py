"""BFS on a real kernel does what docs/schedulers/bfs.md promises, with its numbers."""

import hogs
import pytest
from copies import MakeCopies
from hogs import Got, Hogs

pytestmark = [pytest.mark.lab]

QUOTA_MS = 8.0
"""6.29 ms end on a tick, which comes each 4 ms at HZ=250."""


NICE_PAIRS = {
    (0, 0): (50.0, 50.0),
    (0, 5): (80.0, 20.0),
    (0, 10): (91.7, 8.3),
    (0, 19): (97.1, 2.9),
    (-10, 0): (80.0, 20.0),
}
"""Percent of the CPU for two hogs: for each quota of the lower one the
higher has as many as fit, rounded up, into the distance of their deadlines."""

TOLERANCE_POINTS = 3.0

TRIPLE = (0, 0, 19)


@pytest.fixture(scope="module")
def on_one_cpu(copies: MakeCopies) -> dict[tuple[int, ...], Got]:
    """All measurements under the virtual clock, by nice levels."""
    wanted = [Hogs("bfs", nice) for nice in (*NICE_PAIRS, TRIPLE)]
    got = hogs.measure_all(copies(instruction_shift=2), wanted)
    return {one.hogs.nice: one for one in got.values()}


@pytest.mark.parametrize("nice", NICE_PAIRS)
def test_two_hogs_share_one_cpu_by_nice(nice: tuple[int, int], on_one_cpu: dict[tuple[int, ...], Got]) -> None:
    got = on_one_cpu[nice].shares_pct
    # What the command needs to start and end is not theirs.
    got = [100 * share / sum(got) for share in got]
    assert got == pytest.approx(list(NICE_PAIRS[nice]), abs=TOLERANCE_POINTS)


def test_equal_hogs_get_equal_shares(on_one_cpu: dict[tuple[int, ...], Got]) -> None:
    first, second = on_one_cpu[0, 0].shares_pct
    assert abs(first - second) < 1.0


def test_three_hogs_share_as_simulated(on_one_cpu: dict[tuple[int, ...], Got]) -> None:
    for share, expected in zip(on_one_cpu[TRIPLE].shares_pct, (48.6, 48.6, 2.8), strict=True):
        assert abs(share - expected) <= TOLERANCE_POINTS


@pytest.mark.parametrize("nice", [(0, 19), TRIPLE])
def test_a_nice_19_hog_waits_no_longer_than_its_deadline(
    nice: tuple[int, ...], on_one_cpu: dict[tuple[int, ...], Got]
) -> None:
    assert on_one_cpu[nice].gaps_ms[-1] <= 250.1 + len(nice) * QUOTA_MS
