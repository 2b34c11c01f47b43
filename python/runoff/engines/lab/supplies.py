"""What the guests of a plan are made of: found on this machine, or sent by another."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from runoff.engines import requirements
from runoff.engines.lab import guest_paths
from runoff.engines.lab import image as images
from runoff.engines.lab import kernel as kernels
from runoff.engines.lab.emulator.store import Emulator
from runoff.engines.lab.guest import Cargo
from runoff.engines.lab.kernel import Kernel
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.plan import Plan
from runoff.workloads import Definition

DEFAULT_KERNEL = "usual"
"""Key in the table of the kernels' full names for arms that name no kernel."""


@dataclass(frozen=True, slots=True)
class Supplies:
    """Files that guests are made of."""

    kernels: Mapping[str, Kernel]
    """By the name that was asked for, ``DEFAULT_KERNEL`` where none was."""
    image: images.Image | None
    cargo: Cargo
    emulator: Emulator | None = None
    """runoff's QEMU, for the virtual clock."""

    def find_kernel(self, plan: Plan, arm: Arm) -> Kernel:
        """Return the kernel that ``arm`` runs on."""
        return self.kernels[_asked_kernel(plan, arm)]


def find_supplies(plan: Plan, say: Callable[[str], None]) -> Supplies:
    """Find the kernels, and make the image. Raises RunoffError if the machine lacks something."""
    found: dict[str, Kernel] = {}
    for arm in plan.arms:
        asked = _asked_kernel(plan, arm)
        if asked not in found:
            found[asked] = _find_kernel(plan.kernels.get(asked, "" if asked == DEFAULT_KERNEL else asked))
        _require_sched_ext(arm, found[asked])
    cargo = guest_paths.collect_cargo(plan)
    for kernel, module in itertools.product(found.values(), cargo.modules):
        kernel.module(module)
    image = None
    if any(_needs_image(definition) for definition in plan.definitions):
        image = images.ensure(images.derive_recipe(plan.definitions, plan.settings.packages), say)
        requirements.require_programs_in(image.path, plan)
    return Supplies(found, image, cargo)


def _asked_kernel(plan: Plan, arm: Arm) -> str:
    return arm.kernel or plan.settings.kernel or DEFAULT_KERNEL


def _find_kernel(name: str) -> Kernel:
    kernel = kernels.find(name) if name else kernels.find_default()
    kernel.require_whole()
    return kernel


def _require_sched_ext(arm: Arm, kernel: Kernel) -> None:
    if not arm.needs_sched_ext:
        return
    if not kernel.sched_ext:
        why = kernel.meta.objection or "it has no sched_ext"
        raise MissingError(
            f"arm {arm.label!r} cannot run on the kernel {kernel.name}: {why}; add one that takes schedulers",
            hint=("kernel", "add", "debian"),
        )
    if not kernel.btf:
        raise MissingError(f"arm {arm.label!r}: the kernel {kernel.name} has no BTF (CONFIG_DEBUG_INFO_BTF)")


def _needs_image(definition: Definition) -> bool:
    """Return whether the work needs a root file system: programs inside the agent do not."""
    return any(argv[0] != "runoff-agent" for argv in definition.commands) or bool(definition.programs)
