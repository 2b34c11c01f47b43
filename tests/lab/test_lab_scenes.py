"""The scenes that come with runoff are played in a guest, and repeat to the last digit."""

import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU, described

from runoff.engines.agent import make_sample_request
from runoff.engines.outcome import ValidSample
from runoff.engines.questions import describe_scene
from runoff.plan.scenes import find_scene_metrics
from runoff.workloads import WORKLOADS, parse_works

pytestmark = [pytest.mark.lab]

SHORT = {"pipeline": "pieces=50"}
SCENES = [name for name in WORKLOADS.names() if WORKLOADS.find(name).scene]


@pytest.fixture(scope="module")
def guest(copies: MakeCopies) -> Copies:
    return copies(cpus=2, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.core] * (each == "server")) for each in SCENES])
@pytest.mark.parametrize("scheduler", ["default", "bfs"])
def test_a_scene_repeats_to_the_last_digit(name: str, scheduler: str, guest: Copies) -> None:
    (found,) = parse_works(f"{name}:{SHORT.get(name, 'seconds=1')}", cpus=2)
    work = find_scene_metrics(found, describe_scene)
    first, again = (guest.take(make_sample_request("a", described(scheduler), work)) for _ in range(2))
    assert isinstance(first, ValidSample), first
    assert isinstance(again, ValidSample), again
    assert set(work.scene_metrics) < set(first.metrics)
    assert first.metrics == again.metrics
