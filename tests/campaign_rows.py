"""What a campaign on the host leaves behind: its journal, and nothing else."""

from pathlib import Path
from typing import Any

from runoff.campaign.journal.journal import Journal


def rows(directory: Path) -> list[dict[str, Any]]:
    """A campaign's samples as in its journal, in run order; none if there is no journal yet."""
    if not (directory / "journal.sqlite").exists():
        return []
    with Journal.open(directory, write=False) as journal:
        return [row.model_dump() for row in journal.rows()]


def remains() -> list[Path]:
    """Control groups and scratch directories of agents."""
    return [*Path("/sys/fs/cgroup").glob("**/runoff-*"), *Path("/tmp").glob("runoff-[0-9]*")]
