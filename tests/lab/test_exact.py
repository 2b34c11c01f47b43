"""Several CPUs under the virtual clock: they work in parallel, and every run of a plan gives the same bytes."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import journals
import perl
import pytest
from command import run, samples
from copies import COMPLAINTS, MakeCopies
from hogs import SLOW_CPU, Hogs

from runoff.engines.lab import cache, image
from runoff.engines.lab.emulator.store import Emulator

pytestmark = [pytest.mark.lab]

COUNTERS = "counters:n={},count=20000000,passes=2"
"""120 ms for one that has a CPU of its own."""
BLOCKS = 3


@pytest.fixture(autouse=True)
def prepared(lab_kernel, lab_image, own_qemu) -> None:
    """All of these boot the demo's kernel with its image in runoff's QEMU."""


def taken(folder: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    """The samples of a campaign, all of them valid."""
    document = run("compare", "--seed", "1", *arguments, "--clock", "virtual", "--out", folder, "--json").stdout
    found = samples(document)
    for sample in found.values():
        assert sample["valid"], sample
    return found


def about(folder: Path) -> dict[str, Any]:
    """All that is known of a campaign."""
    found: dict[str, Any] = json.loads(run("report", folder, "--json").stdout)
    return found


def times_s(folder: Path, cpus: int, counts: list[int]) -> dict[int, float]:
    """The least times in seconds by the number of counters.

    The kernel's scheduler puts two on one CPU for a tick now and then, which says nothing about the CPUs.
    """
    works = [word for count in counts for word in ("--work", COUNTERS.format(count))]
    found = taken(folder, "default", *works, "--cpus", str(cpus), "--blocks", str(BLOCKS)).values()
    return {
        count: min(each["metrics"]["time_s"] for each in found if each["workload"] == COUNTERS.format(count))
        for count in counts
    }


def test_counters_take_the_time_of_one_while_each_has_a_cpu(tmp_path: Path) -> None:
    times = times_s(tmp_path / "c", 2, [1, 2, 4])
    assert times[2] == pytest.approx(times[1], rel=0.015)
    assert times[4] == pytest.approx(2 * times[1], rel=0.03)


def test_four_cpus_work_in_parallel_and_the_kernel_trusts_its_clocks(tmp_path: Path) -> None:
    times = times_s(tmp_path / "c", 4, [1, 4])
    assert times[4] == pytest.approx(times[1], rel=0.015)
    (name,) = set(about(tmp_path / "c")["fingerprint"]["snapshots"].values())
    consoles = [*(tmp_path / "c/guests").rglob("console.txt"), cache.snapshots() / name / "console.txt"]
    assert len(consoles) == 1 + 2 * BLOCKS
    for console in consoles:
        text = console.read_text()
        assert not [word for word in COMPLAINTS if word in text], text


WAKER = r"""
pipe R, W;
if (!fork) {
    close W;
    system "taskset -pc 1 $$ >/dev/null";
    my ($sent, @late);
    push @late, now() - unpack "d", $sent while sysread R, $sent, 8;
    printf "longest %d us\n", 1e6 * (sort { $b <=> $a } @late)[0];
    exit;
}
system "taskset -pc 0 $$ >/dev/null";
sleep 1;
for (1 .. 50) { compute(0.0013); syswrite W, pack "d", now(); compute(0.0053) }
close W;
wait;
"""
"""Wakes a process on the other CPU, which sleeps, and goes on computing."""


def test_a_task_woken_by_a_cpu_that_goes_on_wakes_then_and_not_at_the_next_timer(
    copies: MakeCopies, lab_image: image.Image
) -> None:
    assert perl.run(copies(cpus=2, root=lab_image), WAKER) < 100


@contextmanager
def busy_core() -> Iterator[None]:
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        spinner.kill()
        spinner.wait()


@pytest.mark.parametrize("cpus", [1, 2, 4])
def test_two_campaigns_are_equal_to_the_last_digit(cpus: int, tmp_path: Path) -> None:
    """Whatever else the machine does."""
    work = ("--work", "hackbench:groups=1,loops=5", "--probe", "turns")
    plan = ("default", "bfs", *work, "--cpus", str(cpus), "--blocks", "2")
    first = taken(tmp_path / "1", *plan, "-j", "2")
    with busy_core():
        second = taken(tmp_path / "2", *plan)
    assert len(first) == 4
    for cell, sample in first.items():
        assert sample["metrics"] == second[cell]["metrics"], cell
    # Blocks are perturbed: an exact repetition would add no information.
    for cell in ("w0.a0", "w0.a1"):
        assert first[f"b0.{cell}"]["metrics"] != first[f"b1.{cell}"]["metrics"]


def test_a_guest_that_goes_on_for_ever_ends_when_its_own_time_is_used_up(copies: MakeCopies) -> None:
    """Always at the same moment: nothing has to wait for the host's clock."""
    endless = Hogs("default", (0,), seconds=600)
    with pytest.raises(AssertionError, match=r"the machine's time is used up: 2\.5 s"):
        copies(instruction_shift=SLOW_CPU, budget_s=2.5).take(endless.request)


def test_every_sample_has_a_budget_of_its_own_time(tmp_path: Path) -> None:
    taken(tmp_path / "c", "default", "--work", "counters:n=1,count=1000", "--cpus", "2", "--blocks", "1")
    (command,) = (tmp_path / "c/guests").glob("boot-*/qemu.txt")
    assert ",budget=660000 " in command.read_text()


def test_no_wake_up_ends_before_it_began_where_clocks_differ_by_much(tmp_path: Path) -> None:
    """An end that another CPU tells by a clock that is behind made it one of 2^64 ns."""
    plan = ("default", "--work", "counters:n=4,count=100000,passes=3", "--probe", "wakeups", "--cpus", "2")
    (sample,) = taken(tmp_path / "c", *plan, "--quantum", "100000", "--blocks", "1").values()
    assert 0 < sample["metrics"]["wakeup_latency_max_us"] < 1e6 * sample["metrics"]["elapsed_s"]


def test_a_campaign_is_repeated_with_half_and_twice_the_quantum(tmp_path: Path) -> None:
    plan = ("default", "--work", "counters:n=1,count=1000", "--quantum", "500", "--sensitivity", "quantum")
    taken(tmp_path / "c", *plan, "--blocks", "1")
    assert "--quantum 500 --sensitivity quantum" in about(tmp_path / "c")["rerun"]
    for quantum, place in ((500, "c"), (250, "c/sensitivity/quantum=250"), (1000, "c/sensitivity/quantum=1000")):
        document = about(tmp_path / place)
        assert document["fingerprint"]["qemu"]["quantum"] == quantum
        assert [sample["valid"] for sample in document["samples"]] == [True]
    run("resume", tmp_path / "c")


def test_a_campaign_does_not_go_on_with_another_qemu(tmp_path: Path, own_qemu: Emulator) -> None:
    plan = ("default", "--work", "counters:n=1,count=1000", "--cpus", "2", "--blocks", "2")
    taken(tmp_path / "c", *plan)
    journals.keep_first_block(tmp_path / "c")
    parts = json.dumps(journals.read_fact(tmp_path / "c", "parts"))
    journals.forge_fact(tmp_path / "c", "parts", parts.replace("10.0", "10.1"))
    refused = run("resume", tmp_path / "c", expect=64)
    assert "this campaign began with another qemu (" in refused.stderr
    assert f"is {own_qemu.name}; version was QEMU emulator version 10.1" in refused.stderr
    assert list(samples(run("report", tmp_path / "c", "--json").stdout)) == ["b0.w0.a0"]
