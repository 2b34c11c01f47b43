"""Workloads and loads that need nothing but the agent, or programs that are here, really work on the host engine."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from campaign_rows import remains
from command import run

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo")
pytestmark = [pytest.mark.host, needs_root]

TREE = Path(__file__).parents[2] / "crates/elevators"
"""Small, and full of files."""

WORKS = {
    "hackbench": ("groups=1,loops=5", "time_s"),
    "counters": ("n=2,count=300000,passes=1", "time_s", "ideal_ratio"),
    "cyclictest": ("seconds=1", "p99_us", "wakeups"),
    "schbench": ("seconds=1,warm_up_s=0", "wakeup_p99_us", "request_p99_us"),
    "periodic": ("task=audio,seconds=1,loops_per_ms=1000", "latency_mean_us", "activations"),
}
"""Their size, and numbers that cannot be zero."""

LOADS = (
    "process:processes=4",
    "io:size_mb=8",
    "io_other:size_mb=8,directory=/dev/shm",
    "read:size_mb=8",
    f"list:tree={TREE}",
    f"ctar:tree={TREE}",
    f"xtar:tree={TREE}",
    "burn:threads=1",
    "video:loops_per_ms=1000",
    "compile:threads=1,size_mb=8",
)


def take(folder: Path, arms: tuple[str, ...], *options: str) -> list[dict[str, Any]]:
    """The samples of one block; each must be valid, and nothing may be left."""
    arguments = ("compare", *arms, "--on", "host", "--blocks", "1", "--out", folder / "c", "--json", *options)
    taken: list[dict[str, Any]] = json.loads(run(*arguments).stdout)["samples"]
    assert [sample["reason"] for sample in taken] == [None] * len(taken)
    assert remains() == []
    return taken


def works_do_their_work(folder: Path, *arms: str) -> None:
    works = [word for name, (size, *_) in WORKS.items() for word in ("--work", f"{name}:{size}")]
    taken = take(folder, arms, *works)
    assert len(taken) == len(arms) * len(WORKS)
    for sample in taken:
        _size, *numbers = WORKS[sample["workload"].partition(":")[0]]
        for number in numbers:
            assert sample["metrics"][number] > 0, (sample["arm"], sample["workload"], number)


def own_files_travel(folder: Path, *arms: str) -> None:
    """Each sample has its own copies, and what one of them does to these is not seen by the next."""
    script = "#!/bin/sh -e\ntest $(cat ./input/number) = 7\necho 8 >./input/number\n! test -e ./elsewhere\n"
    (folder / "input").mkdir()
    (folder / "input/number").write_text("7\n")
    (folder / "elsewhere").touch()
    (folder / "bench.sh").write_text(script)
    (folder / "bench.sh").chmod(0o755)
    work = 'title = "w"\ndescription = "w"\nfiles = ["bench.sh", "input/number"]\ncommand = ["./bench.sh"]\n'
    (folder / "w.toml").write_text(work)
    assert len(take(folder, arms, "--work", str(folder / "w.toml"))) == len(arms)
    assert (folder / "input/number").read_text() == "7\n"


def loads_do_their_work(folder: Path, *arms: str) -> None:
    loads = [word for load in LOADS for word in ("--load", load)]
    taken = take(folder, arms, "--work", "command:sleep 2", *loads)
    assert len(taken) == len(arms) * len(LOADS)
    for sample in taken:
        seen = sample["metrics"]
        assert seen["load_elapsed_s"] >= seen["elapsed_s"] >= 2
        assert seen["load_units"] > 0, (sample["arm"], sample["load"])
        assert seen["load_cpu_pct"] > 0


def test_workloads_here(tmp_path: Path) -> None:
    works_do_their_work(tmp_path, "default")


def test_loads_here(tmp_path: Path) -> None:
    loads_do_their_work(tmp_path, "default")


def test_own_files_here(tmp_path: Path) -> None:
    own_files_travel(tmp_path, "default")


@pytest.mark.sched_ext
def test_own_files_under_bfs(tmp_path: Path) -> None:
    own_files_travel(tmp_path, "default", "bfs")


@pytest.mark.sched_ext
def test_workloads_under_bfs(tmp_path: Path) -> None:
    works_do_their_work(tmp_path, "bfs")


@pytest.mark.sched_ext
def test_loads_under_bfs(tmp_path: Path) -> None:
    loads_do_their_work(tmp_path, "bfs")


def test_a_tree_that_is_not_there_is_named_before_the_first_sample(tmp_path: Path) -> None:
    work = f"make:source={tmp_path}"
    done = run("compare", "default", "--on", "host", "--work", work, "--out", tmp_path / "c", expect=69)
    program = next((name for name in ("bc", "bison", "flex") if shutil.which(name) is None), None)
    assert f"needs {program or tmp_path / 'Kbuild'}" in done.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("load", ["ctar", "xtar", "list"])
def test_a_load_without_its_tree_is_refused(load: str, tmp_path: Path) -> None:
    beside = ("--work", "command:true", "--load", f"{load}:tree={tmp_path}/none")
    done = run("compare", "default", "--on", "host", *beside, "--out", tmp_path / "c", expect=69)
    assert f"needs {tmp_path}/none on the host" in done.stderr


@pytest.mark.parametrize(("work", "program"), [("lrzip", "lrzip"), ("render", "ffmpeg")])
def test_a_program_that_is_not_here_is_named_with_the_command_that_installs_it(
    work: str, program: str, tmp_path: Path
) -> None:
    if shutil.which(program):
        pytest.skip(f"{program} is installed")
    done = run("compare", "default", "--on", "host", "--work", work, "--out", tmp_path / "c", expect=69)
    assert f"needs {program}: sudo apt-get install {program}" in done.stderr
