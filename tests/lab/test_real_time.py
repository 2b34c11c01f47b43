"""A task that waits on a CPU of a real-time task goes on elsewhere, whenever it came there and whether CPUs have
work."""

from collections.abc import Sequence
from dataclasses import replace

import perl
import pytest
from copies import Copies, MakeCopies
from hogs import SLOW_CPU
from scenes import ON_FOR_EVER, Scene, play

from runoff.engines.lab import image

pytestmark = [pytest.mark.lab]

ALL = ["o1", "staircase", "zaphod", "hydra", "cfs", "eevdf", "bfs"]

PROGRAM = r"""
use strict;
use warnings;

# Three are bound to CPU 1, are freed, and before anybody has a tick CPU 1 is taken; the others have nothing to do.
my $controller = fork // die;
if (!$controller) {
    policy(0, 1, 1);
    allow(0, 0);
    pipe R, W;
    my $urgent = fork // die;
    if (!$urgent) { allow(0, 1); sysread R, $_, 1; compute(0.3); exit }
    my @waiting = map {
        my $pid = fork // die;
        if (!$pid) { policy(0, 0, 0); allow(0, 1); compute(60); exit }
        $pid;
    } 1 .. 3;
    sleep_for(0.2);
    allow($_, 0 .. 3) for @waiting;
    syswrite W, "x";
    sleep_for(0.01);
    my %had = map { $_ => used($_) } @waiting;
    sleep_for(0.1);
    my ($least) = sort { $a <=> $b } map { used($_) - $had{$_} } @waiting;
    printf "least %d us\n", 1e6 * $least;
    end(@waiting, $urgent);
    exit;
}
waitpid $controller, 0;

# CPU 1 has nothing to do until it wakes a real-time task and another one: so near to each other that the kernel does it
# in one interrupt, the one first or the other; then so that the other runs already, and has not run to its end.
my ($begin, $rounds) = (now() + 0.1, 60);
my $urgent = fork // die;
if (!$urgent) {
    allow(0, 1);
    policy(0, 1, 1);
    for (1 .. $rounds) { sleep_for($begin + 0.06 * $_ - now()); compute(0.04) }
    exit;
}
my $latest = 0;
for (1 .. $rounds) {
    my $due = $begin + 0.06 * $_ + ($_ <= 30 ? 3e-6 * ($_ - 20) : 8e-6 * ($_ - 61));
    allow(0, 1);
    allow(0, 0, 1);
    sleep_for($due - now());
    my $late = now() - $due;
    $latest = $late if $late > $latest;
    sleep_for($begin + 0.06 * $_ + 0.05 - now());
}
printf "latest %d us\n", 1e6 * $latest;
end($urgent);
"""


@pytest.fixture(scope="module")
def four_cpus(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(cpus=4, root=lab_image, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("scheduler", ALL)
def test_all_tasks_that_wait_where_a_real_time_task_comes_go_on_elsewhere(scheduler: str, four_cpus: Copies) -> None:
    """It holds for a task too that wakes there together with it, or runs there."""
    seen = perl.run_all(four_cpus, PROGRAM, scheduler=scheduler, names=("least", "latest"))
    assert seen["least"] > 95_000
    assert seen["latest"] < 10_000


@pytest.fixture(scope="module")
def two_cpus(copies: MakeCopies) -> Copies:
    return copies(cpus=2, instruction_shift=SLOW_CPU)


NAPPERS = [f"napper{number}" for number in range(4)]


def all_busy(cpus: int) -> Scene:
    """A real-time task has one CPU for two seconds, and each of the others has a hog."""
    scripts = (
        f"urgent: on {cpus - 1}, sleep 700, policy fifo, busy 2100",
        f"hog*{cpus - 1}: {ON_FOR_EVER}",
        "napper*4: repeat, sleep 12, run 0.5",
    )
    return Scene(scripts, wanted=NAPPERS, seconds=3.2)


SOON_MS = 20
TWO_SLICES_MS = 2 * 104
LATE_MS = {"zaphod": TWO_SLICES_MS}
"""In zaphod a task without a bonus waits for the slices of those before it, as in the original."""


@pytest.mark.parametrize("scheduler", ALL)
@pytest.mark.parametrize("cpus", [2, 4])
def test_a_task_that_wakes_behind_a_real_time_task_is_served_by_cpus_with_work(
    cpus: int, scheduler: str, two_cpus: Copies, four_cpus: Copies
) -> None:
    seen = play(two_cpus if cpus == 2 else four_cpus, scheduler, all_busy(cpus))
    assert max(seen[f"{name}.late_max_ms"] for name in NAPPERS) < LATE_MS.get(scheduler, SOON_MS), seen


WAITING = Scene(
    # Three share CPU 1 until it is taken; the hog of CPU 0 is there all the time.
    scripts=(
        f"hog: on 0, {ON_FOR_EVER}",
        "urgent: on 1, sleep 500, policy fifo, busy 800",
        f"waiting*3: on 1, sleep 400, on 0 1, {ON_FOR_EVER}",
    ),
    wanted=[f"waiting{number}" for number in range(3)],
    seconds=1.3,
)
TURNS_MS = {"o1": 3 * 104, "zaphod": 3 * 104, "staircase": 3 * 200, "hydra": 3 * 200}
"""Four on a CPU: three slices, or rounds, of those before."""


# A task that had to wait would get a second turn, and the last one wait for that too.
WAITING_PARAMETERS = {"zaphod": {"max_tpt_bonus": "0"}}


@pytest.mark.parametrize("scheduler", ALL)
def test_tasks_that_wait_behind_a_real_time_task_are_shared_by_cpus_with_work(scheduler: str, two_cpus: Copies) -> None:
    seen = play(two_cpus, scheduler, replace(WAITING, parameters=WAITING_PARAMETERS.get(scheduler, {})))
    assert max(seen[f"{name}.longest_gap_ms"] for name in WAITING.wanted) < 10 + TURNS_MS.get(scheduler, 30), seen


HELD_S = 3.3
"""The kernel's server for sched_ext begins to ask a taken CPU for work after a second."""

BOUND_WORKERS_MS = 2
"""The server also runs the kernel's workers of that CPU, which can run nowhere else. Two of them in a row, the second
of which is created first, took 1.1 ms at 8 ns per instruction; a hog would run until a tick (4 ms), or for 50 ms.
"""


def taken_for_long(cpus: int, *more: str) -> Sequence[str]:
    """A real-time task has the last CPU for more than three periods of the kernel's server; hogs may run anywhere."""
    return (
        f"urgent: on {cpus - 1}, policy fifo, busy {1000 * HELD_S}",
        f"hog*{2 * (cpus - 1)}: {ON_FOR_EVER}",
        *more,
    )


@pytest.fixture(scope="module")
def three_cpus(copies: MakeCopies, lab_image: image.Image) -> Copies:
    return copies(cpus=3, root=lab_image, instruction_shift=SLOW_CPU)


@pytest.mark.parametrize("scheduler", ALL)
@pytest.mark.parametrize("cpus", [2, 3])
def test_a_real_time_task_keeps_its_cpu(cpus: int, scheduler: str, two_cpus: Copies, three_cpus: Copies) -> None:
    """No task that may run elsewhere takes the time that the kernel's server lends."""
    scene = Scene(taken_for_long(cpus), wanted=["urgent"], seconds=HELD_S + 0.3)
    seen = play(two_cpus if cpus == 2 else three_cpus, scheduler, scene)
    assert seen["urgent.cpu_s"] > 0.999 * HELD_S, seen
    assert seen["urgent.longest_gap_ms"] < BOUND_WORKERS_MS, seen


TAKING_TURNS = r"""
# Two real-time tasks take turns on the last CPU, with two hogs for each other one. Both inherit their policy: one that
# was bound there before it had it would wait for the kernel's server behind the other.
my ($round_robin, $held_s) = (2, 3.3);
policy(0, $round_robin, 1);
allow(0, 0);
my @hogs = map {
    my $pid = fork // die;
    if (!$pid) { allow(0, 0 .. 2); policy(0, 0, 0); compute(60); exit }
    $pid;
} 1 .. 4;
my ($begin, @urgent) = (now() + 0.1);
for (1 .. 2) {
    my $pid = fork // die;
    push @urgent, $pid and next if $pid;
    allow(0, 2);
    sleep_for($begin - now());
    compute($held_s);
    exit;
}
sleep_for($begin + $held_s - 0.1 - now());
my ($least) = sort { $a <=> $b } map { used($_) } @urgent;
printf "least %d us\n", 1e6 * $least;
end(@hogs, @urgent);
"""
SLICE_US = 100_000


@pytest.mark.parametrize("scheduler", ALL)
def test_two_real_time_tasks_share_all_of_their_cpu(scheduler: str, three_cpus: Copies) -> None:
    """Each has 49.9 % of it, but for a slice that the other may have begun."""
    seen = perl.run_all(three_cpus, TAKING_TURNS, scheduler=scheduler, names=("least",))
    assert seen["least"] > 0.499 * 1e6 * (HELD_S - 0.1) - SLICE_US / 2, seen


@pytest.mark.parametrize("scheduler", ALL)
def test_what_is_bound_to_the_cpu_of_a_real_time_task_is_served(scheduler: str, two_cpus: Copies) -> None:
    """By the kernel's server, 50 ms of a second, whether it waits from the beginning or comes when that has found
    nothing, while many that ran there before still wait elsewhere."""
    more = f"bound: on 1, {ON_FOR_EVER}"
    seen = play(two_cpus, scheduler, Scene(taken_for_long(2, more), wanted=["urgent", "bound"], seconds=HELD_S))
    assert 0.03 < seen["bound.cpu_s"] / HELD_S < 0.06, seen
    assert seen["urgent.cpu_s"] / HELD_S > 0.94, seen
    scripts = (
        f"urgent: on 1, sleep 300, policy fifo, {ON_FOR_EVER}",
        f"crowd*20: sleep 100, {ON_FOR_EVER}",
        "bound: on 1, sleep 1450, run 20",
    )
    seen = play(two_cpus, scheduler, Scene(scripts, wanted=["bound"], seconds=1.4 + HELD_S))
    assert 20 <= seen["bound.run_max_ms"] < 1200, seen
