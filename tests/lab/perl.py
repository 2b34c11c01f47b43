"""Perl programs of an image in a copy of a guest: for situations that `runoff-agent scene` has no steps for."""

from collections.abc import Mapping, Sequence
from typing import Any

from copies import Copies
from hogs import Hogs

from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import ValidSample

TOOLS = r"""
sub now {
    my ($which, $time) = (1, "\0" x 16);
    syscall 228, $which, $time;
    my ($s, $ns) = unpack "qq", $time;
    $s + $ns / 1e9;
}
sub sleep_for { select undef, undef, undef, $_[0] if $_[0] > 0 }
sub compute { my $until = now() + $_[0]; 1 while now() < $until }
sub allow {
    my ($pid, @cpus) = @_;
    my $mask = 0;
    $mask |= 1 << $_ for @cpus;
    syscall(203, $pid, 8, pack("Q", $mask)) >= 0 or die "affinity: $!";
}
sub policy { syscall(144, $_[0], 0 + $_[1], pack("i", $_[2])) == 0 or die "policy: $!" }
sub used {
    my $time = "\0" x 16;
    syscall(228, (~$_[0] << 3) | 2, $time) == 0 or die "clock: $!";
    my ($s, $ns) = unpack "qq", $time;
    $s + $ns / 1e9;
}
sub end { kill 9, @_; waitpid $_, 0 for @_ }
"""
"""Before every program: seconds of the monotonic clock (clock_gettime is 228) and of a process on CPUs,
sched_setaffinity (203), sched_setscheduler (144), and the CPU used for so long.
"""


def run(copies: Copies, program: str, *arguments: str, scheduler: str = "default", **parameters: str) -> float:
    """The number of microseconds that it prints, under a scheduler."""
    return _printed(copies, program, arguments, scheduler, parameters, {"printed": "([0-9]+) us"})["printed"]


def run_all(
    copies: Copies, program: str, *arguments: str, scheduler: str, names: tuple[str, ...], **parameters: str
) -> dict[str, float]:
    """The microseconds that it prints as `NAME 12 us`, by these names, under a scheduler that is attached once."""
    patterns = {name: f"{name} ([0-9]+) us" for name in names}
    return _printed(copies, program, arguments, scheduler, parameters, patterns)


def _printed(
    copies: Copies,
    program: str,
    arguments: Sequence[str],
    scheduler: str,
    parameters: Mapping[str, str],
    patterns: Mapping[str, str],
) -> dict[str, float]:
    request = Hogs(scheduler, (), parameters).request
    workload: dict[str, Any] = {
        **request["workload"],
        "root": IMAGE_ROOT,
        "command": ["perl", "-e", TOOLS + program, *arguments],
        "extract": [{"metric": name, "unit": "us", "find": {"pattern": pattern}} for name, pattern in patterns.items()],
    }
    outcome = copies.take({**request, "workload": workload})
    assert isinstance(outcome, ValidSample), (outcome, outcome.detail)
    return {name: outcome.metrics[name] for name in patterns}
