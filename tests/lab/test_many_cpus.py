"""Schedulers treat tasks fairly when CPUs differ: in past promotions, in the tasks there, and in the tasks that may
be."""

import os
from dataclasses import replace

import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image
from runoff.engines.lab.guest import IMAGE_ROOT

pytestmark = [pytest.mark.lab]

ALL = ["o1", "staircase", "zaphod", "hydra", "cfs", "eevdf", "bfs"]

LONG = bool(os.environ.get("RUNOFF_LONG"))

TURN_MS, STARVED_MS, TICK_MS = 1000, 15_000, 4
"""schedulers/include/runqueue/rescue.h; the kernels of the lab have 250 ticks a second."""


@pytest.fixture(scope="module")
def slow_cpu(copies: MakeCopies) -> Copies:
    return copies(instruction_shift=SLOW_CPU, memory_mb=1024)


@pytest.fixture(scope="module")
def two_slow_cpus(copies: MakeCopies) -> Copies:
    return copies(cpus=2, instruction_shift=SLOW_CPU, memory_mb=2048)


UNEQUAL = Scene(
    scripts=(
        f"hogs*2: on 0, {ON_FOR_EVER}",
        f"other: on 1, {ON_FOR_EVER}",
        f"parent: on 0, busy 3000, on 0 1, thread child, {ON_FOR_EVER}",
        f"child: {ON_FOR_EVER}",
    ),
    wanted=("child",),
    seconds=5,
)


@pytest.mark.parametrize(
    ("scheduler", "parameters"),
    [
        ("zaphod", {}),
        ("staircase", {"promotion": "coded"}),
        ("hydra", {}),
        ("hydra", {"mode": "pb"}),
        ("hydra", {"mode": "eb"}),
    ],
    ids=str,
)
def test_a_thread_made_on_another_cpu_soon_runs(
    scheduler: str, parameters: dict[str, str], two_slow_cpus: Copies
) -> None:
    """Levels are counted from what a CPU has promoted, and two CPUs have promoted differently often."""
    often = {**parameters, "base_promotion_interval": "4"}
    seen = play(two_slow_cpus, scheduler, replace(UNEQUAL, parameters=often))
    assert seen["child.first_ms"] < 500


ABSENT = Scene(
    scripts=(
        f"five*5: on 0, busy 50, on 0 1, {ON_FOR_EVER}",
        f"one: on 1, busy 50, on 0 1, {ON_FOR_EVER}",
    ),
    wanted=("five0", "five1", "five2", "five3", "five4", "one"),
    seconds=4,
    prepare=[["sh", "-c", "for c in 2 3 4 5 6 7; do echo 0 >/sys/devices/system/cpu/cpu$c/online; done"]],
    root=IMAGE_ROOT,
)


@pytest.fixture(scope="module")
def eight_cpus(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(cpus=8, root=lab_image, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("scheduler", ALL)
def test_absent_cpus_do_not_keep_a_task_from_its_share(scheduler: str, eight_cpus: Copies) -> None:
    seen = play(eight_cpus, scheduler, ABSENT)
    for actor in ABSENT.wanted:
        # Two or four on a CPU for half a second, until they are balanced.
        assert 0.25 < seen[f"{actor}.cpu_s"] / ABSENT.seconds < 0.5, seen


URGENT = "urgent: on 1, sleep 500, policy fifo, busy 800"
"""A real-time task takes CPU 1 for a while, and CPU 0 has nothing to do."""

DISPLACED = Scene(
    scripts=(URGENT, f"hog: on 1, busy 100, on 0 1, {ON_FOR_EVER}"),
    wanted=("hog",),
    seconds=2,
)
WOKEN = Scene(
    scripts=(URGENT, "napper: on 1, busy 20, on 0 1, sleep 700, run 5"),
    wanted=("napper",),
    seconds=2,
)
TAKEN_WHILE_IDLE = Scene(
    scripts=(
        "urgent: on 1, policy fifo, sleep 500, busy 800",
        "napper: on 1, busy 20, on 0 1, repeat, sleep 50, run 5",
    ),
    wanted=("napper",),
    seconds=2,
)


@pytest.mark.parametrize("scheduler", ALL)
def test_a_task_displaced_by_a_real_time_task_goes_on_elsewhere(scheduler: str, two_slow_cpus: Copies) -> None:
    assert play(two_slow_cpus, scheduler, DISPLACED)["hog.longest_gap_ms"] < 10


@pytest.mark.parametrize("scheduler", ALL)
@pytest.mark.parametrize("scene", [WOKEN, TAKEN_WHILE_IDLE], ids=["from-a-task", "from-idle"])
def test_a_task_that_wakes_where_a_real_time_task_runs_runs_elsewhere(
    scene: Scene, scheduler: str, two_slow_cpus: Copies
) -> None:
    assert play(two_slow_cpus, scheduler, scene)["napper.late_max_ms"] < 10


COME_MS = 2000
"""By then hundreds are there: until then their parent and the CPUs have to do with their start."""

BOUND = Scene(
    scripts=(
        f"bound*600: on 0, sleep {COME_MS}, {ON_FOR_EVER}",
        f"alone: on 1, sleep {COME_MS}, repeat, sleep 5, run 7",
    ),
    wanted=("alone",),
    seconds=COME_MS / 1000 + 4,
)


@pytest.mark.parametrize("scheduler", ALL)
def test_no_cpu_idles_behind_hundreds_that_are_bound_elsewhere(scheduler: str, two_slow_cpus: Copies) -> None:
    seen = play(two_slow_cpus, scheduler, BOUND)
    assert seen["alone.late_mean_ms"] < 10
    # Of four seconds it would run for 2.3 if a switch took no time.
    assert seen["alone.cpu_s"] > 1.2


BLOCKER = f"blocker: on 1, busy {COME_MS + 500}"
"""Nobody finds CPU 1 idle when it wakes; from then on it has nothing to do."""

LAST = f"sleep {COME_MS + 200}, nice 19"
BEHIND = {
    "on-the-same-cpu": Scene(
        scripts=(BLOCKER, f"bound*600: on 0, sleep {COME_MS}, {ON_FOR_EVER}", f"free: on 0 1, {LAST}, {ON_FOR_EVER}"),
        wanted=("free",),
        seconds=COME_MS / 1000 + 3.5,
    ),
    "on-another-cpu": Scene(
        scripts=(
            BLOCKER,
            f"bound*600: on 0, sleep {COME_MS}, {ON_FOR_EVER}",
            f"hog: on 2, {ON_FOR_EVER}",
            f"free: on 2, busy 20, on 1 2, {LAST}, {ON_FOR_EVER}",
        ),
        wanted=("free",),
        seconds=COME_MS / 1000 + 3.5,
    ),
    "behind-some-that-may-run-on-other-cpus": Scene(
        scripts=(
            BLOCKER,
            f"half*300: on 0 3, sleep {COME_MS}, {ON_FOR_EVER}",
            f"hog: on 2, {ON_FOR_EVER}",
            f"free: on 2, busy 20, on 1 2, {LAST}, {ON_FOR_EVER}",
        ),
        wanted=("free",),
        seconds=COME_MS / 1000 + 3.5,
    ),
}
"""The busiest CPU has hundreds of tasks that may not run on CPU 1, and one that may, last of all or elsewhere."""


@pytest.fixture(scope="module")
def four_slow_cpus(copies: MakeCopies) -> Copies:
    return copies(cpus=4, instruction_shift=SLOW_CPU, memory_mb=2048)


@pytest.mark.parametrize("scheduler", ALL)
@pytest.mark.parametrize("scene", BEHIND.values(), ids=BEHIND)
def test_no_cpu_idles_while_a_task_that_may_run_there_waits_behind_hundreds(
    scene: Scene, scheduler: str, four_slow_cpus: Copies
) -> None:
    # Three seconds with a CPU of its own, less what it and the others need to come: it alone up to one.
    assert play(four_slow_cpus, scheduler, scene)["free.cpu_s"] > 1.7


@pytest.mark.parametrize(("scheduler", "turn"), [("zaphod", "time_slice"), ("bfs", "rr_interval_ms")])
def test_a_thousand_hogs_do_not_end_the_scheduler(scheduler: str, turn: str, slow_cpu: Copies) -> None:
    """A task that has starved for 15 s gets a tick: half of them, then the others, and before them the watchdog's own
    thread."""
    told = [f"crowd{number}" for number in range(16)]
    # All of them are there before the first wants to run.
    scripts = (f"crowd*1000: sleep 2000, {ON_FOR_EVER}",)
    seen = play(slow_cpu, scheduler, Scene(scripts, wanted=told, seconds=65, parameters={turn: str(TURN_MS)}))
    longest_ms = max(seen[f"{name}.longest_gap_ms"] for name in told)
    assert longest_ms < STARVED_MS + 3 * TURN_MS + 1000 * TICK_MS


CROWD = 2000 if LONG else 400


@pytest.mark.parametrize(
    ("scheduler", "parameters"),
    [
        *((name, {}) for name in ALL),
        ("hydra", {"mode": "pb"}),
        ("o1", {"era": "2.6.20"}),
        ("staircase", {"compute": "1"}),
    ],
    ids=str,
)
def test_a_crowd_does_not_end_the_scheduler(scheduler: str, parameters: dict[str, str], slow_cpu: Copies) -> None:
    told = [f"crowd{number}" for number in range(16)]
    scripts = (f"crowd*{CROWD}: sleep {CROWD * 2}, {ON_FOR_EVER}",)
    seen = play(slow_cpu, scheduler, Scene(scripts, wanted=told, seconds=38 + CROWD / 100, parameters=parameters))
    assert max(seen[f"{name}.longest_gap_ms"] for name in told) < STARVED_MS + 3 * 104 + CROWD * TICK_MS
