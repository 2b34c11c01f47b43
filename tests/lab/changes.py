"""Somebody else changes the nice value or policy of a task that runs or waits: what CPU time that has just after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import perl
from copies import Copies

_PROGRAM = r"""
use strict;
use warnings;
allow(0, 1);
policy(0, 1, 1);
for (@ARGV) {
    my ($name, $change, $value, $runs, $after, $window, @tasks) = split / /;
    my @pids;
    for (@tasks) {
        my ($policy, $nice) = split /:/;
        my $pid = fork // die;
        if (!$pid) {
            policy(0, $policy, 0);
            setpriority(0, 0, $nice);
            allow(0, 0);
            compute(60);
            exit;
        }
        push @pids, $pid;
    }
    sleep_for($after / 1000);
    my ($one) = $runs ? @pids : @pids[1, 0];
    my ($begin, $had) = now();
    do {
        now() < $begin + 10 or die "$name never has the CPU";
        $had = used($one);
        sleep_for(0.001);
    } until used($one) - $had > 0.0009;
    my $before = used($pids[0]);
    if ($change eq "nice") { setpriority(0, $pids[0], $value) }
    else { policy($pids[0], $value, 0) }
    sleep_for($window / 1000);
    printf "%s %d us\n", $name, 1e6 * (used($pids[0]) - $before);
    end(@pids);
}
"""

NORMAL, BATCH, IDLE = "0", "3", "5"
"""Policies by their numbers, sched.h."""


@dataclass(frozen=True)
class Change:
    """A change of the ``nice`` value or ``policy`` of ``subject`` while it ``runs``, or else while the first of the
    others does, at the first opportunity after ``after_ms``.

    All of them, each a policy and a nice value, compute on CPU 0; who changes it is a real-time task on CPU 1.
    """

    name: str
    what: str
    value: int | str
    runs: bool
    window_ms: int
    subject: tuple[str, int] = (NORMAL, 0)
    others: tuple[tuple[str, int], ...] = ((NORMAL, 0),)
    after_ms: int = 400

    @property
    def words(self) -> str:
        tasks = [f"{policy}:{nice}" for policy, nice in (self.subject, *self.others)]
        numbers = (int(self.runs), self.after_ms, self.window_ms)
        return " ".join([self.name, self.what, str(self.value), *map(str, numbers), *tasks])


def cpu_ms_after(
    copies: Copies, scheduler: str, parameters: Mapping[str, str], changes: Sequence[Change]
) -> dict[str, float]:
    """The CPU time of the subject of each change in the window after it."""
    names = tuple(change.name for change in changes)
    words = (change.words for change in changes)
    us = perl.run_all(copies, _PROGRAM, *words, scheduler=scheduler, names=names, **parameters)
    return {name: each / 1000 for name, each in us.items()}
