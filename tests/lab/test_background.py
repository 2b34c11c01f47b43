"""Who runs only when nobody else wants to keeps nobody waiting: SCHED_BATCH under hydra, `soft_cap=0` under zaphod."""

import shlex

import pytest
from conftest import MakeCopies
from copies import Copies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image
from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import Taken

pytestmark = [pytest.mark.lab]

NAPPER = "napper: nice 19, sleep 200, repeat, sleep 20, run 5"
"""Worse than the other by its nice value, and all the same before it."""


@pytest.fixture(scope="module")
def one_cpu(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(root=lab_image, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("mode", ["sc", "pb", "eb"])
def test_hydra_a_batch_task_makes_way_at_once_for_any_other(mode: str, one_cpu: Copies) -> None:
    scene = Scene(
        (f"batch: policy batch, sleep 20, {ON_FOR_EVER}", NAPPER), ("napper",), seconds=3, parameters={"mode": mode}
    )
    assert play(one_cpu, "hydra", scene)["napper.late_max_ms"] < 5


CAPPED = (
    "runoff-agent set zaphod soft_cap=0 >&2; "
    "sh -c 'runoff-agent set zaphod capped_process=$$ >&2; exec runoff-agent hogs --nice=0 --seconds=4 >&2' & "
)


def test_zaphod_who_may_use_nothing_makes_way_at_once_for_any_other(one_cpu: Copies) -> None:
    request = Scene((NAPPER,), ("napper",), seconds=3).request("zaphod")
    play_it = shlex.join(request["workload"]["command"])
    workload = {**request["workload"], "root": IMAGE_ROOT, "command": ["sh", "-c", f"{CAPPED} {play_it}; wait"]}
    outcome = one_cpu.take({**request, "workload": workload})
    assert isinstance(outcome, Taken), outcome
    assert outcome.metrics["napper.late_max_ms"] < 5
