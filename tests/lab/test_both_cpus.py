"""No scheduler leaves one of two CPUs idle while anybody waits for one."""

from collections.abc import Iterator

import hogs
import pytest
from hogs import Hogs

from runoff.engines.lab import kernel

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.both_cpus]

BUSY_PCT = 150
"""Of one CPU, what hogs on two get at least if both work. The host's two may have other work; were one of the guest's
idle, it would be 100."""

TOLERANCE_POINTS = 3
"""bfs.md section 13."""

CASES = [
    *[(name, count) for name in ("bfs", "cfs", "eevdf") for count in (2, 3, 4)],
    *[(name, count) for name in ("o1", "zaphod", "staircase", "hydra") for count in (2, 4)],
]


@pytest.fixture(scope="module")
def on_two_cpus(tmp_path_factory: pytest.TempPathFactory, lab_kernel: kernel.Kernel) -> Iterator[hogs.Renewed]:
    with hogs.booted(tmp_path_factory.mktemp("real"), lab_kernel, cpus=2, requests=None) as running:
        yield running


@pytest.mark.parametrize(("scheduler", "count"), CASES)
def test_both_cpus_work_while_anybody_waits(scheduler: str, count: int, on_two_cpus: hogs.Renewed) -> None:
    """o1.md section 10, 6, and so for every other: what a busy CPU does not need goes to an idle one."""
    shares = hogs.measure(on_two_cpus, Hogs(scheduler, (0,) * count, seconds=5)).shares_pct
    assert sum(shares) >= BUSY_PCT, shares
    if scheduler in ("bfs", "cfs", "eevdf"):
        # A few seconds of hogs that only ever run: who stays alone on a CPU may keep it for a while.
        assert min(shares) >= 0.5 * min(100, 200 / count), shares


def test_four_equal_hogs_get_equal_shares_of_two_cpus_from_one_queue(on_two_cpus: hogs.Renewed) -> None:
    shares = hogs.measure(on_two_cpus, Hogs("bfs", (0, 0, 0, 0), seconds=10)).shares_pct
    assert max(shares) - min(shares) <= 2 * TOLERANCE_POINTS, shares
