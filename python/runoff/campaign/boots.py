"""The parts of a campaign whose arms run on several kernels of this machine."""

from collections.abc import Mapping, Sequence
from typing import Any

from runoff.campaign.records import Part
from runoff.engines.boots import read_running


def find_same_kernel(parts: Sequence[Part]) -> list[Part]:
    """Return those that were taken on the kernel that runs."""
    return [part for part in parts if name_kernel(part) == read_running()]


def name_kernel(part: Part) -> str:
    """Return the release of the kernel on which a part was taken."""
    return str(part.tables.get("kernel", {}).get("release", ""))


def join_tables(parts: Sequence[Part]) -> dict[str, Any]:
    """Return the tables of the last part, with the arms and kernels of all."""
    tables = [part.tables for part in parts]
    joined = {name: _unite([each.get(name, {}) for each in tables]) for name in ("arms", "kernels", "kernel_names")}
    return {**tables[-1], **joined}


def _unite(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for table in tables for key, value in table.items()}
