"""Every scheduler is taken by every kernel that the cache has: `make test-all` sees to an old and a new one."""

import hogs
import pytest
from conftest import MakeCopies
from hogs import Hogs

from runoff.engines.agent import describe_schedulers
from runoff.engines.lab import kernel
from runoff.errors import MissingError

pytestmark = [pytest.mark.lab]


def schedulers() -> list[str]:
    try:
        return list(describe_schedulers())
    except MissingError:
        return []


KERNELS = [stored.name for stored in kernel.stored() if stored.sched_ext]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_takes_every_scheduler(name: str, copies: MakeCopies) -> None:
    samples = [Hogs(scheduler, (0, 0), seconds=0.5) for scheduler in schedulers()]
    assert samples
    for got in hogs.measure_all(copies(kernel.find(name)), samples).values():
        assert sum(got.shares_pct) > 75, got
