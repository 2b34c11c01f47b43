"""Several wait where a real-time task takes a CPU: all of them go on elsewhere, whenever they came there."""

import perl
import pytest
from conftest import MakeCopies
from copies import Copies
from hogs import SLOW_CPU

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

# CPU 1 has nothing to do until it wakes a real-time task and another one, so near to each other that the kernel does it
# in one interrupt, the one first or the other.
my ($begin, $rounds) = (now() + 0.1, 30);
my $urgent = fork // die;
if (!$urgent) {
    allow(0, 1);
    policy(0, 1, 1);
    for (1 .. $rounds) { sleep_for($begin + 0.06 * $_ - now()); compute(0.04) }
    exit;
}
my $latest = 0;
for (1 .. $rounds) {
    my $due = $begin + 0.06 * $_ + 3e-6 * ($_ - 20);
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
def test_all_who_wait_where_a_real_time_task_comes_go_on_elsewhere(scheduler: str, four_cpus: Copies) -> None:
    """And who wakes there together with it."""
    seen = perl.run_all(four_cpus, PROGRAM, scheduler=scheduler, names=("least", "latest"))
    assert seen["least"] > 95_000
    assert seen["latest"] < 10_000
