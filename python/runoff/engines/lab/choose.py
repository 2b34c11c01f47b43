"""The lab's engine for a plan, by its clock."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from runoff.engine_kinds import Clock
from runoff.engines.base import Engine
from runoff.engines.lab.supplies import Supplies
from runoff.plan.plan import Plan


class LabEngine(Engine, Protocol):
    """An engine whose samples run in guests."""

    @property
    def supplies(self) -> Supplies:
        """What the guests are made of; there once all is prepared."""

    def list_snapshots(self) -> list[Path]:
        """Return the directories of the snapshots that guests are copied from."""


def make_engine(plan: Plan, directory: Path) -> LabEngine:
    """Return the engine of ``plan`` for a campaign in ``directory``."""
    return make_engine_in(plan, directory / "guests")


def make_engine_in(plan: Plan, folder: Path, supplies: Supplies | None = None) -> LabEngine:
    """Return the engine of ``plan``, which stores consoles in ``folder`` and finds ``supplies`` if there are none."""
    if plan.clock == "virtual":
        from runoff.engines.lab.virtual import VirtualClockLab

        return VirtualClockLab(plan, folder, supplies)
    from runoff.engines.lab.real import RealClockLab

    return RealClockLab(plan, folder, supplies)


def choose_clock(plan: Plan, say: Callable[[str], None]) -> Clock:
    """Return the clock of a plan that leaves it open: the real one in KVM, else the virtual one.

    Emulated CPUs under the real clock scatter by more than schedulers usually differ. Raises MissingError: no kernel.
    """
    from runoff.engines.lab import accelerator, kernel

    name = plan.arms[0].kernel or plan.settings.kernel
    found, _ = accelerator.choose(kernel.find(name) if name else kernel.find_default(), say)
    return "real" if found == "kvm" else "virtual"
