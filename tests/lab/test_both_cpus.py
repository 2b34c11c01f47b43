"""No scheduler leaves one of two CPUs idle while anybody waits for one."""

import hogs
import pytest
from copies import Copies, MakeCopies
from hogs import Hogs

pytestmark = [pytest.mark.lab]

BUSY_PCT = 180
"""Least share, in percent of one CPU, of hogs on two: if one were idle it would be 100. On a slow CPU starting them
takes time."""

SECONDS = 3.0

TOLERANCE_POINTS = 3

CASES = [
    *[(name, count) for name in ("bfs", "cfs", "eevdf") for count in (2, 3, 4)],
    *[(name, count) for name in ("o1", "zaphod", "staircase", "hydra") for count in (2, 4)],
]


@pytest.fixture(scope="module")
def on_two_cpus(copies: MakeCopies) -> Copies:
    return copies(cpus=2, instruction_shift=hogs.SLOW_CPU)


@pytest.mark.parametrize(("scheduler", "count"), CASES)
def test_both_cpus_work_while_anybody_waits(scheduler: str, count: int, on_two_cpus: Copies) -> None:
    """A task that a busy CPU does not run goes to an idle one."""
    shares = hogs.measure(on_two_cpus, Hogs(scheduler, (0,) * count, seconds=SECONDS)).shares_pct
    assert sum(shares) >= BUSY_PCT, shares
    if scheduler in ("bfs", "cfs", "eevdf"):
        # A few seconds of hogs that only ever run: one that stays alone on a CPU may keep it for a while.
        assert min(shares) >= 0.5 * min(100, 200 / count), shares


def test_four_equal_hogs_get_equal_shares_of_two_cpus_from_one_queue(on_two_cpus: Copies) -> None:
    shares = hogs.measure(on_two_cpus, Hogs("bfs", (0, 0, 0, 0), seconds=10)).shares_pct
    assert max(shares) - min(shares) <= 2 * TOLERANCE_POINTS, shares
