"""Every load of contest really works in a guest: memory that is written back, pages that are swapped, archives."""

from pathlib import Path
from typing import Any

import pytest
from command import run, samples

from runoff.engines.lab import image
from runoff.workloads import LOADS

pytestmark = [pytest.mark.lab]

MEMORY_MB = 256
WORK_S = 6
MEBIBYTE = 1 << 20

LOADS_HERE = ("none", "process", "io:size_mb=64", "read:size_mb=64", "list", "mem", "ctar", "xtar", "dbench:clients=2")


def take(folder: Path, *arguments: str, expect: int = 0) -> list[dict[str, Any]]:
    """The samples of one block of ``default``."""
    done = run(
        "compare", "--seed", "1", "default", *arguments, "--blocks", "1", "--out", folder / "c", "--json", expect=expect
    )
    return list(samples(done.stdout).values())


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory, lab_kernel, absent) -> dict[str, dict[str, float]]:
    """Metrics of a workload that sleeps, by what ran beside it."""
    if image.find_cached(image.derive_recipe([LOADS.find(name) for name in ("ctar", "list", "dbench")])) is None:
        absent("the image for loads is not in the cache: runoff image build --load ctar --load list --load dbench")
    arguments = [word for load in LOADS_HERE for word in ("--load", load)]
    # Nine of them busy for seconds: under the virtual clock that takes the host minutes.
    machine = ("--memory", str(MEMORY_MB), "--cpus", "1", "--clock", "real")
    document = take(tmp_path_factory.mktemp("loads"), "--work", f"command:sleep {WORK_S}", *arguments, *machine)
    found = {}
    for sample in document:
        assert sample["valid"], sample
        found[sample["load"]] = sample["metrics"]
    assert set(found) == set(LOADS_HERE)
    return found


def test_without_a_load_nothing_is_counted(beside: dict[str, dict[str, float]]) -> None:
    assert not any(name.startswith("load_") for name in beside["none"])


@pytest.mark.parametrize("load", LOADS_HERE[1:])
def test_the_load_had_the_cpu_while_the_workload_ran(load: str, beside: dict[str, dict[str, float]]) -> None:
    metrics = beside[load]
    assert metrics["load_cpu_pct"] > 5
    assert metrics["load_elapsed_s"] >= metrics["elapsed_s"] >= WORK_S


def test_the_ring_turns(beside: dict[str, dict[str, float]]) -> None:
    metrics = beside["process"]
    assert metrics["load_passes"] > 100
    assert metrics["load_units"] == pytest.approx(metrics["load_passes"] / 1000)


def test_what_io_writes_reaches_the_disk(beside: dict[str, dict[str, float]]) -> None:
    metrics = beside["io:size_mb=64"]
    assert metrics["load_bytes_written"] > 64 * MEBIBYTE
    assert metrics["load_passes"] == metrics["load_bytes_written"] // (64 * MEBIBYTE)
    assert metrics["load_units"] == pytest.approx(4 * metrics["load_bytes_written"] / (64 * MEBIBYTE))
    assert metrics["pgpgout_kb"] > 16 * 1024


def test_read_ends_with_a_whole_pass(beside: dict[str, dict[str, float]]) -> None:
    metrics = beside["read:size_mb=64"]
    assert metrics["load_passes"] >= 1
    assert metrics["load_bytes_read"] == metrics["load_passes"] * 64 * MEBIBYTE


def test_mem_makes_the_machine_swap(beside: dict[str, dict[str, float]]) -> None:
    metrics = beside["mem"]
    # How much it copies depends on the host's own disk and load; that memory had to leave for it does not.
    assert metrics["load_bytes_written"] > 16 * MEBIBYTE
    assert metrics["pswpout"] > 1000


@pytest.mark.parametrize("load", ["ctar", "xtar"])
def test_only_whole_archives_are_counted(load: str, beside: dict[str, dict[str, float]]) -> None:
    metrics = beside[load]
    assert metrics["load_passes"] == int(metrics["load_passes"])


def test_dbench_moves_data(beside: dict[str, dict[str, float]]) -> None:
    metrics = beside["dbench:clients=2"]
    assert 0 < metrics["load_units"] < 10
    assert metrics["load_bytes_written"] > MEBIBYTE


BROKEN = {
    "ends": ("exit 3", "the load `ends` ended too early (exit status: 3): "),
    "sleeps": (
        "sleep 1000 & sleep 0.5; echo ready; wait",
        "the load `sleeps` did not work: no CPU time, nothing counted",
    ),
    "never": ("while :; do :; done", "the load `never` was not ready within 2 s"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_load_that_does_not_run_voids_the_sample(name: str, tmp_path: Path, lab_kernel, lab_image) -> None:
    script, reason = BROKEN[name]
    path = tmp_path / f"{name}.toml"
    path.write_text(
        f'title = "t"\ndescription = "d"\ncommand = ["sh", "-c", {script!r}]\nready = "ready"\ntimeout_s = 2\n'
    )
    # Long enough that what a shell does before it waits is nothing.
    for sample in take(tmp_path, "--work", "hackbench:groups=1,loops=40", "--load", str(path), expect=2):
        assert not sample["valid"]
        assert reason in sample["reason"]


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize(("load", "worked"), [("process", "load_passes"), ("mem", "pswpout")])
def test_with_a_load_the_virtual_clock_repeats_itself(
    load: str, worked: str, cpus: int, tmp_path: Path, own_qemu
) -> None:
    """In a copy as in another."""
    work = ("--work", "command:sleep 0.5", "--load", load)
    machine = ("--memory", str(MEMORY_MB), "--cpus", str(cpus), "--clock", "virtual")
    (first,), (second,) = (take(tmp_path / folder, *work, *machine) for folder in ("a", "b"))
    assert first["metrics"][worked] > 0
    assert first["metrics"] == second["metrics"]
