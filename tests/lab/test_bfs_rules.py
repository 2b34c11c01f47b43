"""BFS's rules for yields and isochronous tasks."""

import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU, Hogs
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image
from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import ValidSample

pytestmark = [pytest.mark.lab]


@pytest.fixture(scope="module")
def slow_cpu(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(root=lab_image, instruction_shift=SLOW_CPU)


def test_a_task_that_yields_goes_on_while_its_deadline_is_the_earliest(slow_cpu: Copies) -> None:
    """A yield gives away no more than the place among equals."""
    scene = Scene(("yielder: yield 4000", f"hog: {ON_FOR_EVER}"), ("yielder", "hog"), 4)
    seen = play(slow_cpu, "bfs", scene)
    assert 0.35 < seen["yielder.cpu_s"] / 4 < 0.65


ONLINE, SECONDS = 2, 20
ABSENT = "for c in 2 3 4 5 6 7; do echo 0 >/sys/devices/system/cpu/cpu$c/online; done"


def test_isochronous_tasks_have_their_part_of_the_cpus_that_are_there(
    copies: MakeCopies, lab_image: image.Image
) -> None:
    guest = copies(cpus=8, root=lab_image, instruction_shift=SLOW_CPU)
    request = Hogs("bfs", (0,) * ONLINE, seconds=SECONDS).request
    others = f"runoff-agent hogs --nice=0,0 --seconds={SECONDS} >&2"
    iso = f"runoff-agent set bfs iso_process=$$ >&2; exec {' '.join(request['workload']['command'])}"
    command = ["sh", "-c", f"{ABSENT}; {others} & {iso}"]
    outcome = guest.take({**request, "workload": {**request["workload"], "root": IMAGE_ROOT, "command": command}})
    assert isinstance(outcome, ValidSample), outcome
    part = sum(outcome.metrics[f"cpu_s{hog}"] for hog in range(ONLINE)) / ONLINE / SECONDS
    # All of it for the first 3.5 s, and then up to the limit again and again.
    assert 0.62 < part < 0.82
