"""Files of the user's really are in a guest: scripts, data, programs with this machine's libraries, and modules."""

import json
import shutil
from pathlib import Path

import pytest
from command import run

pytestmark = [pytest.mark.lab, pytest.mark.core, pytest.mark.usefixtures("lab_kernel", "lab_image", "own_qemu")]

SCRIPT = """#!/bin/sh -e
test "$(wc -l <data/numbers)" = 1000
test -d /sys/kernel/debug/sched && test -d /sys/kernel/tracing/events
mkdir m && mount -t tmpfs none m && umount m
test -e /sys/block/zram0
echo changed >data/numbers
echo valid 1 on $1
"""
WORK = """title = "{name}"
description = "{name}"
packages = ["rt-tests"]
modules = ["zram"]
files = {files}
prepare = {prepare}
command = {command}
[metrics.answer]
pattern = '(?:valid )?([0-9]+)'
which = "first"
unit = ""
direction = "none"
title = "answer"
"""
LOAD = """title = "own_load"
description = "A load of the user's"
files = ["burn.sh"]
command = ["./burn.sh"]
ready = "burning"
"""


def test_scripts_programs_and_modules_are_in_a_guest_and_on_a_cluster(tmp_path: Path) -> None:
    grep = shutil.which("grep")
    assert grep is not None
    shutil.copy(grep, tmp_path / "my-grep")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/numbers").write_text("".join(f"{number}\n" for number in range(1000)))
    (tmp_path / "bench.sh").write_text(SCRIPT)
    (tmp_path / "bench.sh").chmod(0o755)
    script = WORK.format(
        name="s", files='["bench.sh", "data/numbers"]', prepare="[]", command='["./bench.sh", "{cpus}"]'
    )
    (tmp_path / "s.toml").write_text(script)
    # The kernel's name of the process is the program's own, though its loader was started.
    program = WORK.format(
        name="p", files='["my-grep"]', prepare='[["./my-grep", "-q", "root", "/etc/passwd"]]',
        command='["./my-grep", "-c", "^my-grep$", "/proc/self/comm"]',
    )  # fmt: skip
    (tmp_path / "p.toml").write_text(program)
    (tmp_path / "burn.sh").write_text("#!/bin/sh\necho burning\nwhile :; do :; done\n")
    (tmp_path / "burn.sh").chmod(0o755)
    (tmp_path / "burn.toml").write_text(LOAD)
    words = (
        "compare", "default", "bfs", "--work", tmp_path / "s.toml", "--work", tmp_path / "p.toml", "--blocks", "1",
        "--load", tmp_path / "burn.toml", "--seed", "1", "--on", "lab", "--clock", "virtual", "--cpus", "1",
        "--memory", "512", "--json",
    )  # fmt: skip
    done = run(*words, "--out", tmp_path / "c")
    there = run(*words, "--out", tmp_path / "there", "--cluster", "local:1")
    taken = json.loads(done.stdout)["samples"]
    assert [each["metrics"] for each in json.loads(there.stdout)["samples"]] == [each["metrics"] for each in taken]
    assert [sample["reason"] for sample in taken] == [None] * 4
    assert {sample["metrics"]["answer"] for sample in taken} == {1}
