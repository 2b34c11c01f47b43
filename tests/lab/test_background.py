"""Effects of SCHED_BATCH and SCHED_IDLE: a task that runs only when no other wants to does not keep others waiting."""

import shlex

import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image
from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import ValidSample

pytestmark = [pytest.mark.lab]

NAPPER = "napper: nice 19, sleep 200, repeat, sleep 20, run 5"
"""Worse than the other by its nice value, and all the same before it."""


@pytest.fixture(scope="module")
def one_cpu(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(root=lab_image, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("policy", ["batch", "idle"])
@pytest.mark.parametrize("mode", ["sc", "pb", "eb"])
def test_hydra_a_background_task_makes_way_at_once_for_any_other(mode: str, policy: str, one_cpu: Copies) -> None:
    scene = Scene(
        (f"other: policy {policy}, sleep 20, {ON_FOR_EVER}", NAPPER), ("napper",), seconds=3, parameters={"mode": mode}
    )
    assert play(one_cpu, "hydra", scene)["napper.late_max_ms"] < 5


EQUAL, NOTHING = (40, 60), (0, 1)
WORTH = {
    "default": {"batch": EQUAL, "idle": NOTHING},
    "cfs": {"batch": EQUAL, "idle": NOTHING},
    "eevdf": {"batch": EQUAL, "idle": NOTHING},
    "bfs": {"batch": EQUAL, "idle": NOTHING},
    "hydra": {"batch": NOTHING, "idle": NOTHING},
    "o1": {"batch": EQUAL, "idle": EQUAL},
    "staircase": {"batch": EQUAL, "idle": EQUAL},
    "zaphod": {"batch": EQUAL, "idle": EQUAL},
}
"""Per cent of a CPU beside a normal hog; the last three know their nice value alone, as their originals did."""


@pytest.mark.parametrize("policy", ["batch", "idle"])
@pytest.mark.parametrize("scheduler", WORTH)
def test_a_hog_of_another_policy_has_its_share(scheduler: str, policy: str, one_cpu: Copies) -> None:
    scene = Scene((f"normal: {ON_FOR_EVER}", f"other: policy {policy}, {ON_FOR_EVER}"), ("other",), seconds=5)
    least, most = WORTH[scheduler][policy]
    assert least <= 100 * play(one_cpu, scheduler, scene)["other.cpu_s"] / scene.seconds <= most


def test_hydra_both_background_policies_share_the_rest(one_cpu: Copies) -> None:
    scene = Scene((f"batch: policy batch, {ON_FOR_EVER}", f"idle: policy idle, {ON_FOR_EVER}"), ("batch", "idle"), 6)
    seen = play(one_cpu, "hydra", scene)
    assert min(seen["batch.cpu_s"], seen["idle.cpu_s"]) > 2


CAPPED = (
    "runoff-agent set zaphod soft_cap=0 >&2; "
    "sh -c 'runoff-agent set zaphod capped_process=$$ >&2; exec runoff-agent hogs --nice=0 --seconds=4 >&2' & "
)


def test_zaphod_a_task_with_a_cap_of_nothing_makes_way_at_once_for_any_other(one_cpu: Copies) -> None:
    request = Scene((NAPPER,), ("napper",), seconds=3).request("zaphod")
    play_it = shlex.join(request["workload"]["command"])
    workload = {**request["workload"], "root": IMAGE_ROOT, "command": ["sh", "-c", f"{CAPPED} {play_it}; wait"]}
    outcome = one_cpu.take({**request, "workload": workload})
    assert isinstance(outcome, ValidSample), outcome
    assert outcome.metrics["napper.late_max_ms"] < 5
