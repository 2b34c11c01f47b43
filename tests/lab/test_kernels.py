"""Every scheduler is taken by every kernel that the cache has, and keeps its rules there.

`make test-all` fetches the older ones that Debian still has; `make test` tries the oldest that is there already.
"""

import pytest
from copies import MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import kernel
from runoff.engines.questions import describe_schedulers
from runoff.errors import MissingError

pytestmark = [pytest.mark.lab]

CPUS = [1, 2, 4]


def schedulers() -> list[str]:
    try:
        return list(describe_schedulers())
    except MissingError:
        return []


KERNELS = [stored.name for stored in kernel.list_stored() if stored.sched_ext]


def places() -> list[object]:
    """A kernel and a number of CPUs: every change has to pass one of these."""
    return [
        pytest.param(name, cpus, marks=[pytest.mark.core] if (name, cpus) == (KERNELS[-1], 2) else [])
        for name in KERNELS
        for cpus in CPUS
    ]


def scene(cpus: int) -> Scene:
    """On each CPU one task that is better than the other, and more that may run anywhere."""
    scripts = ["napper: repeat, sleep 20, run 1", f"free*{cpus + 1}: sleep 100, {ON_FOR_EVER}"]
    for cpu in range(cpus):
        scripts += [f"better{cpu}: on {cpu}, {ON_FOR_EVER}", f"worse{cpu}: on {cpu}, nice 10, {ON_FOR_EVER}"]
    bound = [f"{name}{cpu}" for cpu in range(cpus) for name in ("better", "worse")]
    return Scene(scripts, ["napper", *bound, *(f"free{number}" for number in range(cpus + 1))], seconds=3)


@pytest.mark.parametrize(("name", "cpus"), places())
def test_a_kernel_takes_every_scheduler(name: str, cpus: int, copies: MakeCopies) -> None:
    guest = copies(kernel.find(name), cpus=cpus, instruction_shift=SLOW_CPU)
    played = scene(cpus)
    for scheduler in schedulers():
        seen = play(guest, scheduler, played)
        used = sum(value for note, value in seen.items() if note.endswith(".cpu_s"))
        assert used > 0.95 * cpus * played.seconds, (scheduler, seen)
        # Two to one; but of staircase's rounds there are four in this time, and not all are whole.
        for cpu in range(cpus):
            assert seen[f"better{cpu}.cpu_s"] > 1.1 * seen[f"worse{cpu}.cpu_s"], (scheduler, seen)
