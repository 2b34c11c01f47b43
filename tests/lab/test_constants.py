"""Constants of an object that does not describe itself: an arm sets them before the kernel checks it."""

from pathlib import Path

import pytest
from campaign_rows import rows
from cli_runner import run as run_here
from command import run

pytestmark = [pytest.mark.lab, pytest.mark.core, pytest.mark.usefixtures("lab_kernel", "own_qemu")]

WORDS = ("--work", "counters:n=1", "--on", "lab", "--clock", "virtual", "--cpus", "2", "--blocks", "1", "--seed", "1")


def test_a_constant_is_in_force_and_one_that_the_scheduler_refuses_is_told(tmp_path: Path, test_objects: Path) -> None:
    plain = test_objects / "plain.bpf.o"
    run("compare", plain, f"{plain}:slice_ms=3,nudge=-7,refuse=0", *WORDS, "--out", tmp_path / "a")
    assert {(row["valid"], row["proof"]["before"]["ops"]) for row in rows(tmp_path / "a")} == {(True, "plain")}
    refused = run("compare", "default", f"{plain}:refuse=1", *WORDS, "--out", tmp_path / "b", expect=64)
    assert "plain: ops.init() failed (-1)" in refused.stderr


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ("refuse=2", "refuse=2 is out of range; it may be 0..1"),
        ("slice_ms=65536", "slice_ms=65536 is out of range; it may be 0..65535"),
        ("limits=1", 'plain has no parameter "limits"; it has '),
        ("__own=1", 'plain has no parameter "__own"; it has '),
        ("queued=1", 'plain has no parameter "queued"; it has '),
    ],
)
def test_what_is_no_constant_or_out_of_range_is_named(
    tmp_path: Path, test_objects: Path, parameter: str, words: str
) -> None:
    arm = f"{test_objects / 'plain.bpf.o'}:{parameter}"
    assert words in run("compare", "default", arm, *WORDS, "--out", tmp_path / "c", expect=64).stderr


def test_an_object_is_listed_with_its_constants(test_objects: Path) -> None:
    listed = run_here("list", "schedulers", str(test_objects / "plain.bpf.o")).stdout
    assert "  refuse=0  (0..1, fixed once attached)\n" in listed
    assert "  nudge=-1  (-2147483648..2147483647, fixed once attached)\n" in listed
    assert "limits" not in listed
    described = run_here("list", "schedulers", str(test_objects / "choosy.bpf.o")).stdout
    assert "First come, first served, with choices for" in described
    assert "era=2.6.31" in described
    assert "does not describe" not in described
    assert "is not a sched_ext scheduler" in run_here("list", "schedulers", "/bin/sh", expect=64).stderr
    assert "No such file" in run_here("list", "schedulers", "./nope.bpf.o", expect=64).stderr
