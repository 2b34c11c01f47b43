"""What other processes are doing: each may end at any moment, also between the opening of its file and the reading."""

import contextlib
from pathlib import Path

GONE = (FileNotFoundError, ProcessLookupError)
"""How a file of a process that has ended says so: when it is opened, and when it is read (proc(5))."""


def is_running(pid: int) -> bool:
    """Whether the process can still do anything; a dead one may wait for its parent to notice."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except GONE:
        return False
    return state not in "ZX"


def children(pid: int) -> list[int]:
    """Processes that threads of this one have started; none when it is gone."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(*GONE):
            found += [int(child) for child in file.read_text().split()]
    return found
