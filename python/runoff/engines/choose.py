"""The engine that a plan asks for."""

from pathlib import Path

from runoff.engines.base import Engine
from runoff.plan import Plan


def choose(plan: Plan, directory: Path) -> Engine:
    """``directory`` is the campaign's; the lab keeps its consoles below it, the host what a disk is filled with."""
    if plan.settings.on == "host":
        from runoff.engines.host import HostEngine

        return HostEngine(plan, directory)
    from runoff.engines.lab.engine import LabEngine

    return LabEngine(plan, directory / "guests")
