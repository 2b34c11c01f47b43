"""Every scheduler keeps all tasks through whatever programs, administrators and machines may do.

Forks, vforks, threads, real-time tasks, moves between CPUs and control groups, limits, changes of nice value and
policy, stops, crowds that are bound, CPUs that come and go or never come. RUNOFF_STRESS_SECONDS lengthens each sample,
e.g. 600 for ten virtual minutes, and then tries all that on more CPUs, with greater crowds and more parameters.
RUNOFF_TEST_SEED is the seed; a failure repeats itself exactly.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import hogs
import pytest
from copies import SEED, Copies, MakeCopies
from hogs import described

from runoff.engines.lab import image
from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import ValidSample
from runoff.engines.questions import describe_schedulers
from runoff.errors import MissingError

SECONDS = float(os.environ.get("RUNOFF_STRESS_SECONDS", "3"))
IS_LONG = SECONDS >= 60

CPUS = [2, 4, 8] if IS_LONG else [2, 4]
CROWDED_CPUS = [2, 4, 8] if IS_LONG else [4]
CROWD = 2000 if IS_LONG else 200

END_LIMIT_S = 180
"""The stress gives its children a minute to end, and the watchdog ends a scheduler that loses them in half of that."""

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1200 + 20 * SECONDS)]

OFTEN = ("forks", "affinity_changes", "nice_changes", "policy_changes", "stops", "yields", "naps", "messages")
WAITS = ("longest_wait_ms", "longest_normal_wait_ms")
COUNTS = (*OFTEN, "hotplugs", "group_changes", "visits", "lost", "unfinished", *WAITS)


@dataclass(frozen=True)
class Arm:
    scheduler: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return ":".join([self.scheduler, *(f"{name}={value}" for name, value in self.parameters.items())])


MORE = [
    Arm("hydra", {"mode": "eb"}),
    *(
        Arm(name, parameters)
        for name, parameters in [
            ("hydra", {"mode": "pb"}),
            ("zaphod", {"mode": "eb"}),
            ("o1", {"era": "2.6.20"}),
            ("cfs", {"era": "2.6.24"}),
            ("cfs", {"era": "2.6.31"}),
            ("cfs", {"era": "2.6.32"}),
        ]
        if IS_LONG
    ),
]


def arms() -> list[Arm]:
    try:
        return [*map(Arm, ["default", *describe_schedulers()]), *MORE]
    except MissingError:
        return []


RESCUED_MS = 20_000
"""After 15 s schedulers of runoff let waiting tasks run (schedulers/include/runqueue/rescue.h), a tick each, after
those that began to wait before."""

TICK_MS = 4
STORMS, CHILDREN, SELFISH_MS = 4, 25, 800
WORKERS_A_CPU = 6
"""Limits of crates/work/src/stress: storms at a time, children of each, and how long one of them is a real-time
task."""


def normal_wait_ms(arm: Arm, cpus: int) -> float:
    """The longest that a task of SCHED_NORMAL waits, by the rules of its scheduler.

    Workers may all be bound to one CPU, with nice values from -20 to 19, children of storms and real-time tasks.

    ========= =========================================================================================================
    bfs       Its deadline is 250 ms away, after which every task has had a run of two ticks.
    zaphod    58 promotions by 110 ms bring it to the best level, where every task there has a slice of 26 ticks.
    hydra     The same by 255 ms is as long as the rescue takes; nor has staircase a bound of its own.
    o1        As long as interactive tasks go on, a second for each task: with more than 15 it is rescued before.
    cfs       A tick of a task of weight 15 is made up for by 24 s of one of weight 88,761; eevdf is the same.
    ========= =========================================================================================================
    """
    workers, selfish_ms = WORKERS_A_CPU * cpus, STORMS * SELFISH_MS
    if arm.scheduler == "bfs":
        return 250 + (workers + STORMS * CHILDREN) * 2 * TICK_MS + selfish_ms
    if arm.scheduler == "zaphod":
        return 58 * 110 + workers * 26 * TICK_MS + STORMS * CHILDREN * TICK_MS + selfish_ms
    return RESCUED_MS


IDLE_MS = 2 * TICK_MS + 0.5
"""A CPU that stays idle is kicked on the next tick of one on which a task waits. One that wakes the whole crowd in one
interrupt, of 7 ms, has no tick meanwhile."""


SHOWN = 'seen=$({}); ended=$?; echo "$seen"; echo "stress: $seen" >/dev/console; exit $ended'
"""Figures have no room for whose wait was the longest; the console has."""

ALONE = "exec {}"
"""Where groups are made: their parent may have no other process than the one that makes them."""


def request(arm: Arm, options: Sequence[str], before: str, probes: Sequence[str]) -> dict[str, Any]:
    """``before`` is what a shell does first."""
    stress = f"runoff-agent stress --seconds={SECONDS} --seed={SEED} {' '.join(options)}"
    run = (ALONE if "--groups" in options else SHOWN).format(stress)
    return {
        "type": "sample",
        "id": str(arm),
        "scheduler": described(arm.scheduler, arm.parameters),
        "probes": list(probes),
        "workload": {
            "name": "stress",
            "root": IMAGE_ROOT,
            "prepare": [],
            "controllers": ["cpu"] if "--groups" in options else [],
            "command": ["sh", "-c", f"{before} && {run}"],
            "environment": {},
            "timeout_s": SECONDS + END_LIMIT_S,
            "extract": [{"metric": name, "find": {"pattern": rf'"{name}":([0-9.]+)'}} for name in COUNTS],
        },
    }


Guests = Callable[[int], Copies]


@pytest.fixture(scope="module")
def guests(copies: MakeCopies, lab_image: image.Image) -> Guests:
    """Samples by the number of CPUs."""
    limit_s = 900 + 20 * SECONDS
    return cache(
        lambda cpus: copies(cpus=cpus, root=lab_image, memory_mb=2048, instruction_shift=hogs.SLOW_CPU, limit_s=limit_s)
    )


def check(
    guest: Copies,
    arm: Arm,
    cpus: int,
    *options: str,
    happens: Sequence[str],
    before: str = "true",
    probes: Sequence[str] = (),
) -> dict[str, float]:
    """No task is lost or waits for too long, although everything has happened often."""
    (outcome,), said = guest.session([request(arm, options, before, probes)])
    figures = [line for line in said.splitlines() if line.startswith("stress: ")]
    told = f"seed {SEED}, {arm}, {cpus} CPUs: {figures}"
    assert isinstance(outcome, ValidSample), (told, outcome, outcome.detail)
    seen = dict(outcome.metrics)
    print(told, seen)
    assert seen["lost"] == seen["unfinished"] == 0, told
    assert seen["longest_wait_ms"] < RESCUED_MS, told
    assert seen["longest_normal_wait_ms"] < normal_wait_ms(arm, cpus), told
    counts = {name: seen[name] for name in (*OFTEN, *happens)}
    assert min(counts.values()) > SECONDS / 4, told
    return seen


@pytest.mark.parametrize("arm", arms(), ids=str)
@pytest.mark.parametrize("cpus", CPUS)
def test_nothing_is_lost_in_groups_and_under_limits(cpus: int, arm: Arm, guests: Guests) -> None:
    check(guests(cpus), arm, cpus, "--groups", happens=["group_changes"])


ABSENT = "echo 0 >/sys/devices/system/cpu/cpu%d/online"


@pytest.mark.parametrize("arm", arms(), ids=str)
@pytest.mark.parametrize("cpus", CROWDED_CPUS)
def test_nothing_is_lost_in_a_crowd_when_cpus_come_and_go(cpus: int, arm: Arm, guests: Guests) -> None:
    """The last CPU is possible and never there, unless there are only two."""
    options = ("--hotplug", f"--crowd={CROWD}")
    before = ABSENT % (cpus - 1) if cpus > 2 else "true"
    seen = check(guests(cpus), arm, cpus, *options, happens=["hotplugs", "visits"], before=before, probes=["idle"])
    if arm.scheduler != "default" and arm.parameters.get("era") != "2.6.31":
        assert seen["idle_while_waiting_longest_s"] * 1000 < IDLE_MS, (f"seed {SEED}, {arm}, {cpus} CPUs", seen)
