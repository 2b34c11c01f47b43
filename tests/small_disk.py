"""A disk with little room."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mount_small_disk(place: Path) -> Iterator[None]:
    """Mount a file system of 64 MiB at ``place``, which is made. Skips the test where nothing can be mounted."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64M,mode=755", "none", place], check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)
