"""What works may expect of a guest beyond files and programs: a network of its own, and control groups."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import run, samples
from copies import Copies, MakeCopies
from hogs import Hogs

from runoff.engines.lab import guest, image
from runoff.engines.lab.guest import IMAGE_ROOT
from runoff.engines.outcome import ValidSample

pytestmark = [pytest.mark.lab]


def asked(*command: str, root: str | None, **more: Any) -> dict[str, Any]:
    """A request for a sample of a command."""
    request = Hogs("default", ()).request
    work: Mapping[str, Any] = {**request["workload"], "root": root, "command": command, "extract": [], **more}
    return {**request, "id": "asked", "workload": work}


@pytest.fixture(scope="module")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> guest.Cargo:
    """A server with its client, in the guest as /loopback."""
    program = tmp_path_factory.mktemp("loopback") / "loopback"
    source = Path(__file__).with_name("loopback.c")
    subprocess.run(["gcc", "-static", "-O1", "-o", program, source], check=True)
    return guest.Cargo(programs={"/loopback": program})


@pytest.mark.core
def test_a_server_and_its_client_meet_in_a_guest_without_an_image(copies: MakeCopies, loopback: guest.Cargo) -> None:
    outcome = copies(cargo=loopback).take(asked("/loopback", root=None, timeout_s=5))
    assert isinstance(outcome, ValidSample), outcome


SERVED = r"""
use strict; use warnings; use Socket qw(:all);
for (["127.0.0.1", AF_INET], ["::1", AF_INET6], ["localhost", AF_INET]) {
    my ($name, $family) = @$_;
    my ($failed, @found) = getaddrinfo($name, 6379, {family => $family, socktype => SOCK_STREAM});
    die "$name: $failed" if $failed;
    my $address = $found[0]{addr};
    socket my $server, $family, SOCK_STREAM, 0 or die $!;
    setsockopt $server, SOL_SOCKET, SO_REUSEADDR, 1 or die $!;
    bind $server, $address or die "$name: $!";
    listen $server, 1 or die $!;
    if (!fork) { accept my $client, $server or die $!; syswrite $client, "pong"; exit }
    socket my $client, $family, SOCK_STREAM, 0 or die $!;
    connect $client, $address or die "$name: $!";
    sysread $client, my $said, 4;
    $said eq "pong" or die "$name: no answer";
    wait;
}
"""


def test_a_server_and_its_client_meet_in_an_image(copies: MakeCopies, lab_image: image.Image) -> None:
    outcome = copies(root=lab_image).take(asked("perl", "-e", SERVED, root=IMAGE_ROOT, timeout_s=5))
    assert isinstance(outcome, ValidSample), outcome


GROUPS = "stress:seconds=1,groups=on"


@pytest.mark.parametrize("clock", ["real", "virtual"])
def test_stress_moves_its_workers_between_groups(clock: str, tmp_path: Path, lab_kernel, lab_image) -> None:
    """With an image, as another work needs it, or without."""
    for more in ([], ["--work", "hackbench:groups=1,loops=1"]):
        document = run("compare", "default", "bfs", "--work", GROUPS, *more, "--clock", clock, "--blocks", "1",
                       "--seed", "1", "--out", tmp_path / str(len(more)), "--json").stdout  # fmt: skip
        assert all(sample["valid"] for sample in samples(document).values()), document


LIMITED = """set -e
own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir $own/main $own/limited
echo 0 >$own/main/cgroup.procs
echo '+cpu +memory' >$own/cgroup.subtree_control
echo '10000 100000' >$own/limited/cpu.max
echo 100000000 >$own/limited/memory.max
sh -c "echo 0 >$own/limited/cgroup.procs; i=0; while [ \\$i -lt 100000 ]; do i=\\$((i + 1)); done"
awk '$1 == "nr_throttled" && $2 > 0 { print $2 }' $own/limited/cpu.stat | grep .
"""
AS_BEFORE = "! grep -w cpu /sys/fs/cgroup/cgroup.subtree_control"


def test_a_work_has_the_controllers_that_it_names(copies: MakeCopies, lab_image: image.Image) -> None:
    """They are off in other samples: with cpu on, the kernel's own scheduler shares CPUs between groups of tasks."""
    several: Copies = copies(root=lab_image)
    named = asked("sh", "-c", LIMITED, root=IMAGE_ROOT, controllers=["cpu", "memory"])
    unnamed = asked("sh", "-c", AS_BEFORE, root=IMAGE_ROOT)
    outcomes, _ = several.session([unnamed, named, unnamed])
    assert [outcome for outcome in outcomes if not isinstance(outcome, ValidSample)] == []


def test_a_work_may_switch_controllers_on_by_itself(copies: MakeCopies, lab_image: image.Image) -> None:
    switch = "echo '+cpu +memory' >/sys/fs/cgroup/cgroup.subtree_control\n"
    outcome = copies(root=lab_image).take(asked("sh", "-c", switch + LIMITED, root=IMAGE_ROOT))
    assert isinstance(outcome, ValidSample), outcome


def test_a_controller_that_no_kernel_has_is_named(copies: MakeCopies) -> None:
    outcome = copies().take(asked("runoff-agent", "hogs", root=None, controllers=["cpuu"]))
    assert not isinstance(outcome, ValidSample)
    assert outcome.reason.startswith('this kernel has no controller "cpuu" of control groups: there are cpu, cpuset')
