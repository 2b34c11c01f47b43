"""A server is part of the sample on a real kernel: under the arm's scheduler, in the work's group, counted apart."""

from pathlib import Path
from typing import Any

import pytest
from campaign_rows import rows
from command import run, samples

pytestmark = [pytest.mark.lab, pytest.mark.core, pytest.mark.usefixtures("lab_kernel", "lab_image", "own_qemu")]

ANSWERS = 200
ECHO = f"""
title = "echo"
description = "A client that waits for each answer of a server which computes for a moment."
packages = ["rt-tests"]
prepare = [["mkfifo", "asked", "told"]]
command = ["sh", "-ec", '''
n=0
while [ $n -lt {ANSWERS} ]; do echo $n >asked; read -r answer <told; [ $answer = $n ]; n=$((n + 1)); done
echo answers $n
''']
[server]
command = ["sh", "-c", '''
touch up
while :; do read -r n <asked; i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); done; echo $n >told; done
''']
ready = ["test", "-e", "up"]
[metrics.answers]
pattern = 'answers ([0-9]+)'
unit = ""
direction = "none"
title = "answers"
"""
HALF = "default+quota=50%"


def take(folder: Path, name: str) -> list[dict[str, Any]]:
    work = folder / "echo.toml"
    work.write_text(ECHO)
    arms = ("default", "bfs", HALF)
    words = ("--work", work, "--probe", "wakeups", "--on", "lab", "--clock", "virtual", "--cpus", "2", "--seed", "1")
    taken = samples(run("compare", *arms, *words, "--blocks", "1", "--out", folder / name, "--json").stdout)
    assert {sample["reason"] for sample in taken.values()} == {None}
    return rows(folder / name)


def test_a_server_is_part_of_the_sample(tmp_path: Path) -> None:
    taken = take(tmp_path, "first")
    for row in taken:
        metrics = row["metrics"]
        assert metrics["answers"] == ANSWERS
        # It computes more than its client, and both are woken for each answer. Times of the user are counted by ticks
        # of 4 ms, of which so short a client may be seen at none; shares are of what each ran, to the nanosecond.
        assert metrics["server_cpu_pct"] > 2 * metrics["cpu_pct"] > 0, row
        assert metrics["server_user_s"] > metrics["user_s"], row
        assert metrics["wakeups"] >= 1.9 * ANSWERS, row
        assert row["proof"]["threads_checked"] >= 2 or row["arm"] != "bfs"
    # The quota is of both together.
    used = {row["arm"]: row["metrics"]["cpu_pct"] + row["metrics"]["server_cpu_pct"] for row in taken}
    assert used[HALF] < 55 < 80 < used["default"], used
    # The virtual clock: the same again.
    numbers = [[(row["arm"], row["metrics"]) for row in each] for each in (taken, take(tmp_path, "again"))]
    assert numbers[0] == numbers[1]
