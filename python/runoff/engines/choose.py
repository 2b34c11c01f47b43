"""The engine that a plan asks for."""

from pathlib import Path

from runoff.engines.base import Engine
from runoff.plan import Plan


def choose(plan: Plan, directory: Path) -> Engine:
    """``directory`` is the campaign's; the lab keeps its consoles below it."""
    if plan.settings.on == "host":
        from runoff.engines.host import HostEngine

        return HostEngine(plan)
    from runoff.engines.lab.engine import LabEngine

    return LabEngine(plan, directory / "guests")
