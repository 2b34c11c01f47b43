"""A task whose nice value or policy is changed from outside is where it belongs at once, whether it runs or waits."""

from dataclasses import replace

import pytest
from changes import BATCH, IDLE, NORMAL, Change, cpu_ms_after
from copies import Copies, MakeCopies
from hogs import SLOW_CPU

from runoff.engines.lab import image

pytestmark = [pytest.mark.lab]

TICK_MS = 4

TURN_MS = 2 * TICK_MS + 1
"""A turn that ends at the second tick, which takes a moment too."""
WINDOW_MS = 20

PROMOTED_MS = 19 * 255 + 1000
"""A task that has used more per share than others is promoted at most 19 times before it runs; behind all of them it
waits for 15 s."""

BETTER = Change("better", "nice", -20, runs=False, window_ms=WINDOW_MS)
SOON = Change("soon", "nice", -20, runs=False, window_ms=5)
NICER = Change("nicer", "nice", 19, runs=False, window_ms=150, others=((NORMAL, 0),) * 2)
GIVES_WAY = Change("way", "nice", 19, runs=True, window_ms=WINDOW_MS)
GIVES_WAY_ON_STAIRS = replace(GIVES_WAY, after_ms=200)
"""After 380 ms two tasks of nice 0 are on the last stair, where a task of nice 19 takes turns with the other one."""

LAST_POLICY = {"bfs": IDLE, "hydra": BATCH, "eevdf": IDLE}
"""Policies of tasks that run only, or mostly, when no other wants to; in cfs a task that had one keeps its vruntime."""

SCHEDULERS: list[tuple[str, dict[str, str]]] = [
    ("o1", {}),
    ("o1", {"era": "2.6.20"}),
    ("zaphod", {}),
    ("zaphod", {"mode": "eb"}),
    ("staircase", {}),
    ("hydra", {}),
    ("hydra", {"mode": "eb"}),
    ("bfs", {"rr_interval_ms": "100"}),
    ("cfs", {}),
    ("eevdf", {}),
]


@pytest.fixture(scope="module")
def two_cpus(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(cpus=2, root=lab_image, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize(("scheduler", "parameters"), SCHEDULERS, ids=str)
def test_a_change_holds_at_once(scheduler: str, parameters: dict[str, str], two_cpus: Copies) -> None:
    """A waiting task that becomes better runs, one that becomes nicer lets others run first; so do changes of policy.

    In eevdf and cfs the running task may be owed a tick more. In staircase a task that becomes better finishes its
    stair, and then goes down. In o1 a slice that has begun is finished, before those of the next epoch.
    """
    stairs = scheduler == "staircase" or (scheduler == "hydra" and not parameters)
    changes = [SOON if stairs else BETTER]
    if scheduler != "o1":
        changes += [NICER, GIVES_WAY_ON_STAIRS if stairs else GIVES_WAY]
    if scheduler in LAST_POLICY:
        last = LAST_POLICY[scheduler]
        window_ms = PROMOTED_MS if parameters.get("mode") == "eb" else 500
        normal = Change("normal", "policy", NORMAL, runs=False, window_ms=window_ms, subject=(last, 0))
        changes += [normal, Change("last", "policy", last, runs=True, window_ms=WINDOW_MS)]
    had = cpu_ms_after(two_cpus, scheduler, parameters, changes)
    if stairs:
        assert had["soon"] > 2, had
    else:
        assert had["better"] > WINDOW_MS - (TURN_MS if scheduler in ("cfs", "eevdf") else 2), had
    if scheduler != "o1":
        # A third each would be 50 ms.
        assert had["nicer"] < 25, had
        assert had["way"] < TURN_MS, had
    if scheduler in LAST_POLICY:
        assert had["normal"] > 100, had
        assert had["last"] < TURN_MS, had
