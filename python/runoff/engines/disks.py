"""The agent's ``Disk`` message (docs/protocol.md): the disk that a sample's directories are on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runoff.plan.elevators import Elevator
from runoff.plan.plan import Plan


def describe_made_disk(elevator: Elevator, plan: Plan, content: str | Path, file: str | None) -> Mapping[str, Any]:
    """Return the message for a disk of one sample: ``content`` is an empty file system, ``file`` its data or None."""
    return {
        "kind": "made",
        "elevator": elevator.name,
        "parameters": dict(elevator.parameters),
        "model": plan.settings.disk_model,
        "size_mb": plan.disk_mb,
        "file": file,
        "content": str(content),
    }


def describe_borrowed_disk(elevator: Elevator | None) -> Mapping[str, Any]:
    """Return the message for the machine's own disk; None leaves the elevator that is in charge."""
    return {
        "kind": "borrowed",
        "elevator": None if elevator is None else elevator.name,
        "parameters": {} if elevator is None else dict(elevator.parameters),
    }
