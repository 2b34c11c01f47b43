"""Kernel modules for tests: the guest's kernel has them in the lab's cache, a machine's own where modprobe looks."""

import os
import subprocess
from pathlib import Path

from runoff.engines.lab import kernel

NAMES = ("ublk_drv", "loop", "dm_mod", "mq-deadline", "bfq", "btrfs")
"""Modules that tests insert; the guest itself cannot write to this machine's cache."""


def insert(*names: str) -> None:
    """Inserts the modules that are not there yet."""
    known = {each.release: each for each in kernel.list_stored()}
    own = known.get(os.uname().release)
    for name in names:
        if own is None:
            subprocess.run(["modprobe", name], check=True)
            continue
        for file in own.modules.files(name):
            if not Path("/sys/module", file.stem).exists():
                subprocess.run(["insmod", file], check=True)
