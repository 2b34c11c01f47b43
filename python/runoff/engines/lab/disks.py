"""Disks behind elevators in the lab's guests: the agent's message, and what the guest needs for them."""

from collections.abc import Mapping
from typing import Any

from runoff.engines import disks
from runoff.engines.lab.guest import DISK_PLACE
from runoff.plan.elevators import Elevator
from runoff.plan.plan import Plan

PLACE = "/run/disk"
"""Where the agent mounts the disk of a sample, as a path of its work."""
CONTENT = "/disk.blocks"
"""Guest file with the blocks of its empty file system."""
LATE = (
    "disks behind elevators are late under an emulated real clock, see disk_late_pct in every sample: "
    "use --clock virtual --cpus 1"
)
_DRIVER = "ublk_drv"


def make_request(elevator: Elevator, plan: Plan, root: str | None) -> Mapping[str, Any]:
    """Return the agent's ``Disk`` message; its data are a file on the guest's disk, below ``root``."""
    return disks.describe_made_disk(elevator, plan, CONTENT, f"{root or ''}{DISK_PLACE}/disk")


def room_mb(plan: Plan) -> int:
    """Return the size of the guest's disk: disks of arms are files on it, beside its file system."""
    return plan.disk_mb + (plan.disk_mb // 8 + 192 if plan.has_elevators else 0)


def list_modules(plan: Plan) -> tuple[str, ...]:
    """Return the kernel modules that the guest needs."""
    modules = [arm.elevator.module for arm in plan.arms if arm.elevator is not None]
    return (_DRIVER, *dict.fromkeys(module for module in modules if module is not None))
