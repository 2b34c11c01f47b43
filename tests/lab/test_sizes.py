"""A sweep over the number of CPUs, in the lab: one campaign for each, which goes on where it was stopped."""

import json
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run

import runoff

pytestmark = [pytest.mark.lab, pytest.mark.core, pytest.mark.usefixtures("lab_kernel", "own_qemu")]

WORK = ("counters:n=2,count=100000,passes=1",)
WORDS = (
    "sweep", "bfs", "--cpus", "1,2", "--clock", "virtual", "--blocks", "2", "--memory", "512", "--seed", "1",
    "-j", "2", "--work", *WORK,
)  # fmt: skip


def test_each_size_is_a_campaign_and_the_same_command_takes_nothing_twice(tmp_path: Path) -> None:
    out = tmp_path / "out"
    document = json.loads(run(*WORDS, "--out", out, "--json").stdout)
    assert document["arms"] == ["default", "bfs"]
    assert {each["cpus"] for each in document["comparisons"]} == {1, 2}
    taken = {cpus: rows(out / f"cpus-{cpus}") for cpus in (1, 2)}
    assert [len(found) for found in taken.values()] == [4, 4]
    machines = {
        cpus: json.loads(run("report", out / f"cpus-{cpus}", "--json").stdout)["fingerprint"]["machine"]["cpus_online"]
        for cpus in taken
    }
    assert machines == {1: "0", 2: "0-1"}
    assert json.loads(run(*WORDS, "--out", out, "--json").stdout) == document
    called = runoff.conduct_sizes(
        ["bfs"], [1, 2], out, jobs=2, clock="virtual", blocks=2, memory_mb=512, seed=1, workloads=list(WORK),
    )  # fmt: skip
    assert {cpus: len(report.results.samples) for cpus, report in called.reports.items()} == {1: 4, 2: 4}
    assert {cpus: rows(out / f"cpus-{cpus}") for cpus in (1, 2)} == taken
