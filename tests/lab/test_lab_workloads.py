"""Each workload really does its work in the lab, under both schedulers."""

from pathlib import Path

import pytest
from command import run, samples

from runoff.engines.lab import image
from runoff.workloads import WORKLOADS

pytestmark = [pytest.mark.lab]


def test_compile_compiles(tmp_path: Path, lab_kernel, absent) -> None:
    if image.find_cached(image.derive_recipe([WORKLOADS.find("compile")])) is None:
        absent("the image for compile is not in the cache: runoff image build --work compile")
    document = run("compare", "--seed", "1", "default", "bfs", "--work", "compile:part=et,jobs=2", "--blocks", "1",
                   "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    for sample in samples(document).values():
        assert sample["valid"], sample
        # A compiler ran: it used far more memory than make alone, and its time is the cgroup's.
        assert sample["metrics"]["max_rss_kb"] > 15_000
        assert sample["metrics"]["user_s"] > 0.1


def test_hackbench_by_both_transports(tmp_path: Path, lab_kernel, lab_image) -> None:
    document = run("compare", "--seed", "1", "default", "bfs", "--work", "hackbench:groups=1,loops=20",
                   "--work", "hackbench:groups=1,loops=20,transport=pipe", "--blocks", "1",
                   "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    for sample in samples(document).values():
        assert sample["valid"], sample
        # 20 receivers and 20 senders exchange 8,000 messages: each has to wait for another at least once.
        assert sample["metrics"]["voluntary_switches"] > 40
        assert 0 < sample["metrics"]["time_s"] <= sample["metrics"]["elapsed_s"]


def test_hackbench_has_threads_and_other_sizes_by_its_own_options(tmp_path: Path, lab_kernel, lab_image) -> None:
    works = ("hackbench -g 1 -l 20 -f 8 -s 10", "hackbench -g 1 -l 20 -f 8 -s 10 -T")
    document = run("compare", "--seed", "1", "default", "bfs", "--work", works[0], "--work", works[1], "--blocks", "1",
                   "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    names = {"hackbench:groups=1,fds=8,loops=20,size=10", "hackbench:groups=1,fds=8,loops=20,size=10,threads=on"}
    taken = samples(document).values()
    assert {each["workload"] for each in taken} == names
    for sample in taken:
        assert sample["valid"], sample
        assert sample["metrics"]["voluntary_switches"] > 16


def test_a_command_of_ones_own_is_judged_by_its_elapsed_time(tmp_path: Path, lab_kernel, lab_image) -> None:
    document = run("compare", "default", "--work", "command:sleep 0.5", "--package", "rt-tests", "--blocks", "1",
                   "--seed", "1", "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    (sample,) = samples(document).values()
    assert 0.5 <= sample["metrics"]["elapsed_s"] < 5


def test_cyclictest_wakes_as_often_as_requested(tmp_path: Path, lab_kernel, lab_image) -> None:
    document = run("compare", "default", "bfs", "--work", "cyclictest:seconds=2,threads=2", "--blocks", "1",
                   "--seed", "1", "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    for sample in samples(document).values():
        assert sample["valid"], sample
        metrics = sample["metrics"]
        # One thread every 1000 us and one every 1500 us, for 2 s and until the signal that ends them is served.
        assert 1000 < metrics["wakeups"] <= (1000 + 1000 / 1.5) * metrics["elapsed_s"]
        assert 0 < metrics["median_us"] <= metrics["p99_us"] <= metrics["p999_us"] <= metrics["max_us"]


WITH_A_CPU_OFFLINE = """
title = "one CPU offline"
description = "Counters, with fewer CPUs than the machine has."
prepare = [["sh", "-c", "echo 0 >/sys/devices/system/cpu/cpu1/online"]]
command = ["runoff-agent", "counters", "--processes=8", "--count=2000000", "--passes=2"]
elapsed_headline = true
"""


@pytest.mark.parametrize("cpus", [2, 3])
def test_migrations_are_counted_while_a_cpu_is_offline(cpus: int, tmp_path: Path, lab_kernel, lab_image) -> None:
    # A scheduler is loaded before, when the CPU is still there.
    work = tmp_path / "offline.toml"
    work.write_text(WITH_A_CPU_OFFLINE)
    document = run("compare", "default", "bfs", "--work", work, "--clock", "virtual", "--cpus", cpus,
                   "--blocks", "1", "--seed", "1", "--out", tmp_path / "c", "--json").stdout  # fmt: skip
    for sample in samples(document).values():
        assert sample["valid"], sample
        # With one CPU left no task can move; with two, eight processes do.
        assert (sample["metrics"]["migrations"] > 0) is (cpus > 2), sample
