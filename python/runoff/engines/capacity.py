"""Checks that there is room for the files and swap space of loads, before anything starts."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from runoff.errors import MissingError
from runoff.plan.settings import Settings
from runoff.workloads import Work

MEBIBYTE = 1 << 20

SIZE = "size_mb"
"""The parameter of loads that have a size; 0 is a little more, or as much, as the memory."""

RESERVE_MB = 64
"""Part of memory and swap that loads cannot use: a kernel keeps about as much of a small guest's memory for itself, and
the load mem leaves 64 kB of the rest (crates/work/src/load/memory.rs)."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """The disk, memory and swap space of a machine, in MiB."""

    where: str
    """The machine's name in errors."""
    disk_mb: int
    memory_mb: int
    swap_mb: int


def measure_machine(directory: Path) -> Capacity:
    """Return the capacity of this machine for loads that work in ``directory``."""
    free = shutil.disk_usage(directory).free
    memory, swap = psutil.virtual_memory().total, psutil.swap_memory().total
    return Capacity("this machine", free // MEBIBYTE, memory // MEBIBYTE, swap // MEBIBYTE)


def measure_guest(settings: Settings, disk_mb: int, swap_mb: int) -> Capacity:
    """Return the capacity of a guest of the lab."""
    return Capacity("the guest", disk_mb, settings.memory_mb, swap_mb)


def require(loads: Iterable[Work | None], room: Capacity) -> None:
    """Raise MissingError, with the numbers, for the first load that does not fit."""
    for load in loads:
        if load is not None and SIZE in load.values:
            size_mb = int(load.values[SIZE])
            if load.definition.disk:
                _require_disk(load.label, size_mb or room.memory_mb, room)
            if load.definition.swap:
                _require_swap(load.label, size_mb, room)


def _require_disk(label: str, size_mb: int, room: Capacity) -> None:
    if size_mb > room.disk_mb:
        raise MissingError(
            f"load {label!r} writes {size_mb} MB, but the disk of {room.where} has {room.disk_mb} MB: "
            f"choose a smaller {SIZE}, or more room"
        )


def _require_swap(label: str, size_mb: int, room: Capacity) -> None:
    if not room.swap_mb:
        raise MissingError(f"load {label!r} makes a machine swap, but {room.where} has no swap space: leave it out")
    most_mb = room.memory_mb + room.swap_mb - RESERVE_MB
    if size_mb > most_mb:
        raise MissingError(
            f"load {label!r} needs {size_mb} MB, but memory and swap space of {room.where} have {most_mb} MB for it"
        )
