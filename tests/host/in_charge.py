"""The scheduler in charge of this machine's CPUs, and ``runoff attach`` to change it."""

import subprocess
from pathlib import Path
from typing import Any

from command import start
from waiting import wait_until

SYSFS = Path("/sys/kernel/sched_ext")


def state() -> str:
    return (SYSFS / "state").read_text().strip()


def attached() -> str:
    ops = SYSFS / "root/ops"
    return ops.read_text().strip() if ops.exists() else ""


def attach(*words: str | Path, name: str = "bfs", **options: Any) -> "subprocess.Popen[str]":
    """``runoff attach``, once the scheduler ``name`` is in charge."""
    process = start("attach", *(words or [name]), **options)
    wait_until(lambda: process.poll() is not None or (state() == "enabled" and attached() == name))
    assert process.poll() is None, process.communicate()
    return process
