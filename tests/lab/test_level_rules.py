"""Rules of o1, staircase, zaphod and hydra that shares do not show, each by the smallest scene."""

import shlex

import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image
from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import ValidSample

pytestmark = [pytest.mark.lab]

TICK_MS = 4


@pytest.fixture(scope="module")
def slow_cpu(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(root=lab_image, instruction_shift=SLOW_CPU)


@pytest.fixture(scope="module")
def fast_cpu(copies: MakeCopies) -> Copies:
    return copies()


@pytest.mark.parametrize(
    ("scheduler", "parameters", "first"),
    [
        ("o1", {}, True),
        # Only a child with its own memory, not a thread.
        ("o1", {"era": "2.6.20"}, False),
        ("zaphod", {}, True),
        ("hydra", {"mode": "pb"}, True),
        ("hydra", {}, False),
        ("staircase", {}, False),
    ],
    ids=str,
)
def test_a_thread_runs_before_its_parent_or_waits_for_it(
    scheduler: str, parameters: dict[str, str], first: bool, fast_cpu: Copies
) -> None:
    scene = Scene(
        (f"parent: busy 3, thread child, {ON_FOR_EVER}", f"child: {ON_FOR_EVER}"), ("child",), 0.5, parameters
    )
    assert (play(fast_cpu, scheduler, scene)["child.first_ms"] < 1) == first


@pytest.mark.parametrize("era", ["2.6.8", "2.6.20"])
def test_o1_interactive_tasks_keep_others_waiting_for_seconds_and_not_for_good(era: str, slow_cpu: Copies) -> None:
    """A second for each task here, and then a slice of each."""
    eaters = 4
    scene = Scene(
        (f"eaters*{eaters}: sleep 1500, repeat, sleep 40, run 100", f"hog: {ON_FOR_EVER}"), ("hog",), 20, {"era": era}
    )
    gap_ms = play(slow_cpu, "o1", scene)["hog.longest_gap_ms"]
    assert 1500 < gap_ms < (eaters + 1) * (1020 + 104) + TICK_MS


def test_staircase_a_task_that_sleeps_too_shortly_goes_on_down(slow_cpu: Copies) -> None:
    """Less than a millisecond of running and less than ten in all are one run with those before."""

    def late_ms(nap_ms: float) -> float:
        scene = Scene((f"hog: {ON_FOR_EVER}", f"napper: repeat, sleep {nap_ms}, run 0.5"), ("napper",), 6)
        return play(slow_cpu, "staircase", scene)["napper.late_max_ms"]

    assert late_ms(5) > 50
    assert late_ms(15) < 20


ROUND_MS = 200
STAIRS = 19
"""Levels of a task of nice 0."""


@pytest.mark.parametrize("scheduler", ["staircase", "hydra"])
def test_a_full_burst_is_spent_over_as_many_rounds(scheduler: str, slow_cpu: Copies) -> None:
    """With b bursts left a round goes only to stair 19 - b, so a hog that waits on stair s waits for s rounds before
    the one that comes down to it. Without bursts each round comes down to the bottom."""

    def gap_ms(interactive: int) -> float:
        naps = "sleep 12, run 1.5, " * (STAIRS + 6)
        scripts = (f"hog*2: {ON_FOR_EVER}", f"saver: {naps}{ON_FOR_EVER}")
        parameters = {"interactive": str(interactive)}
        scene = Scene(scripts, ("hog0", "hog1"), 6, parameters)
        seen = play(slow_cpu, scheduler, scene)
        return max(seen["hog0.longest_gap_ms"], seen["hog1.longest_gap_ms"])

    assert 5 * ROUND_MS < gap_ms(1) < (STAIRS + 1) * ROUND_MS + TICK_MS
    assert gap_ms(0) < 2 * ROUND_MS + 3 * TICK_MS


def test_staircase_computing_tasks_are_preempted_late(slow_cpu: Copies) -> None:
    def late_ms(compute: int) -> dict[str, float]:
        scene = Scene(
            (f"hog: {ON_FOR_EVER}", "napper: repeat, sleep 33, run 2"), ("napper",), 4, {"compute": str(compute)}
        )
        return play(slow_cpu, "staircase", scene)

    assert 2 < late_ms(1)["napper.late_mean_ms"] < 20
    assert late_ms(0)["napper.late_mean_ms"] < 1


@pytest.mark.parametrize("mode", ["pb", "eb"])
def test_zaphod_a_capped_task_gets_little_more_next_to_another(mode: str, slow_cpu: Copies) -> None:
    capped = (
        "runoff-agent set zaphod soft_cap=100 >&2; "
        "sh -c 'runoff-agent set zaphod capped_process=$$ >&2; exec runoff-agent hogs --nice=0 --seconds=25 >&2' & "
    )
    request = Scene((f"other: {ON_FOR_EVER}",), ("other",), 20, {"mode": mode}).request("zaphod")
    play_it = shlex.join(request["workload"]["command"])
    workload = {**request["workload"], "root": IMAGE_ROOT, "command": ["sh", "-c", f"{capped} {play_it}; wait"]}
    outcome = slow_cpu.take({**request, "workload": workload})
    assert isinstance(outcome, ValidSample), outcome
    assert 0.8 < outcome.metrics["other.cpu_s"] / 20 < 0.93
