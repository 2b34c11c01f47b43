"""The engine that a plan asks for."""

from collections.abc import Callable
from pathlib import Path

from runoff.engines.base import Engine
from runoff.plan.plan import Plan
from runoff.results import Clock


def choose(plan: Plan, directory: Path) -> Engine:
    """Return the engine of ``plan``; it stores consoles or the content of disks below ``directory``."""
    if plan.settings.on == "host":
        from runoff.engines.host import HostEngine

        return HostEngine(plan, directory)
    folder = directory / "guests"
    if plan.clock == "virtual":
        from runoff.engines.lab.virtual import VirtualClockLab

        return VirtualClockLab(plan, folder)
    from runoff.engines.lab.real import RealClockLab

    return RealClockLab(plan, folder)


def choose_lab_clock(plan: Plan, say: Callable[[str], None]) -> Clock:
    """Return the clock of a plan for the lab that leaves it open: the real one in KVM, else the virtual one.

    Emulated CPUs under the real clock scatter by more than schedulers usually differ. Raises MissingError: no kernel.
    """
    from runoff.engines.lab import accelerator, kernel

    name = plan.arms[0].kernel or plan.settings.kernel
    found, _ = accelerator.choose(kernel.find(name) if name else kernel.find_default(), say)
    return "real" if found == "kvm" else "virtual"
