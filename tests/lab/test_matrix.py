"""Arms on a kernel, in the lab: which load and survive, and a matrix that goes on where it was stopped."""

import json
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run

import runoff

pytestmark = [pytest.mark.lab, pytest.mark.core, pytest.mark.usefixtures("lab_kernel", "own_qemu")]

WORK = "counters:n=2,count=100000,passes=1"
WORDS = (
    "--seconds", "1", "--blocks", "2", "--cpus", "1", "--memory", "512", "--seed", "1", "-j", "2",
    "--work", WORK,
)  # fmt: skip


def test_each_arm_is_tried_and_what_fails_does_not_keep_the_others(
    tmp_path: Path, lab_kernel, test_objects: Path
) -> None:
    rejected, quitter = test_objects / "rejected.bpf.o", test_objects / "quitter.bpf.o"
    words = ("matrix", "bfs", rejected, quitter, "--kernel", lab_kernel.name, *WORDS, "--out", tmp_path / "out")
    document = json.loads(run(*words, "--json", expect=1).stdout)
    entries = {Path(entry["arm"]).name: entry for entry in document["entries"]}
    bfs = entries["bfs"]
    assert (bfs["loads"], bfs["survives"], bfs["reason"]) == (True, True, None)
    assert bfs["verdict"] in ("better", "worse", "same", "small", "unclear")
    assert (entries["rejected.bpf.o"]["loads"], entries["rejected.bpf.o"]["survives"]) == (False, None)
    assert entries["rejected.bpf.o"]["reason"]
    assert (entries["quitter.bpf.o"]["loads"], entries["quitter.bpf.o"]["survives"]) == (False, None)
    assert "ejected at once" in entries["quitter.bpf.o"]["reason"]
    assert document["outcome"].startswith("2 of 3 fail: ")
    page = (tmp_path / "out" / "matrix.html").read_text()
    assert (page.count(">works<"), page.count(">does not load<")) == (1, 2)
    folder = tmp_path / "out" / lab_kernel.name.replace(":", "-").replace("+", "-")
    taken = rows(folder / "speed")
    assert {row["arm"] for row in taken} == {"default", "bfs"}
    # The same once more takes nothing.
    again = json.loads(run(*words, "--json", expect=1).stdout)
    assert again == document
    arms = ["bfs", str(rejected), str(quitter)]
    keys = {"blocks": 2, "cpus": 1, "memory_mb": 512, "seed": 1}
    called = runoff.conduct_matrix(
        [lab_kernel.name], arms, tmp_path / "out", seconds=1, work=WORK, jobs=2, **keys,
    )  # fmt: skip
    assert [Path(entry.arm).name for entry in called.entries if entry.refused] == [rejected.name, quitter.name]
    assert rows(folder / "speed") == taken
