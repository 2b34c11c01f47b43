"""The part that the lab's engines share: kernels, image, and the description of a guest. It runs no guest."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

from runoff.engines import capacity, ext4, requirements
from runoff.engines.agent import make_sample_request
from runoff.engines.base import make_machine_tables
from runoff.engines.lab import disks, guest_paths, qemu, swap
from runoff.engines.lab import image as images
from runoff.engines.lab import kernel as kernels
from runoff.engines.lab.guest import DISK_PLACE, IMAGE_ROOT, MEMORY_PLACE, Cargo
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.workloads import Definition

BOOT_LIMIT_S = 180.0

DEFAULT_KERNEL = "usual"
"""Key in the table of the kernels' full names for arms that name no kernel."""


class PreparedMachine:
    """The kernels and the image of a plan, and the description of guests with them."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        """``folder`` is the engine's directory."""
        self.plan = plan
        self._content = folder / "disk.blocks"
        self._folder = folder
        self._kernels: dict[str | None, kernels.Kernel] = {}
        self._kernel_names: dict[str, str] = {}
        self._image: images.Image | None = None
        self._lock = threading.Lock()

    def prepare(self, say: Callable[[str], None]) -> None:
        """Find the kernels and make the image. Raises RunoffError if the machine lacks something."""
        if which(qemu.PROGRAM) is None:
            raise MissingError(f"the lab needs {qemu.PROGRAM}: apt-get install qemu-system-x86")
        plan = self.plan
        capacity.require(plan.loads, capacity.measure_guest(plan.settings, plan.disk_mb, plan.swap_mb))
        for arm in plan.arms:
            self._find_kernel(arm)
        definitions = plan.definitions
        if any(_needs_image(definition) for definition in definitions):
            wanted = images.derive_recipe(definitions, plan.settings.packages)
            self._image = images.ensure(wanted, say)
            requirements.require_programs_in(self._image.path, plan)
        self._folder.mkdir(parents=True, exist_ok=True)

    def _find_kernel(self, arm: Arm) -> None:
        if arm.kernel in self._kernels:
            kernel = self._kernels[arm.kernel]
        else:
            asked = arm.kernel or self.plan.settings.kernel or ""
            name = self.plan.kernels.get(asked or DEFAULT_KERNEL, asked)
            kernel = kernels.find(name) if name else kernels.find_default()
            kernel.require_whole()
            self._kernels[arm.kernel] = kernel
            self._kernel_names[asked or DEFAULT_KERNEL] = kernel.name
        if arm.needs_sched_ext and not kernel.sched_ext:
            why = kernel.meta.objection or "it has no sched_ext"
            raise MissingError(
                f"arm {arm.label!r} cannot run on the kernel {kernel.name}: {why}; "
                "add one that takes schedulers by: runoff kernel add debian"
            )
        if arm.needs_sched_ext and not kernel.btf:
            raise MissingError(f"arm {arm.label!r}: the kernel {kernel.name} has no BTF (CONFIG_DEBUG_INFO_BTF)")

    def find_kernel(self, arm: Arm) -> kernels.Kernel:
        """Return the kernel that ``arm`` runs on."""
        return self._kernels[arm.kernel]

    def request(self, cell: Cell) -> dict[str, Any]:
        """Return the request to the guest's agent for one sample."""
        plan = self.plan
        arm, work, load = plan.arms[cell.arm], plan.works[cell.work], plan.loads[cell.load]
        root = IMAGE_ROOT if self._image is not None else None
        disk = disks.make_request(arm.elevator, plan, root) if arm.elevator is not None else None
        return make_sample_request(
            cell.id,
            guest_paths.translate_scheduler(plan, arm),
            work,
            load,
            flush=plan.settings.flush,
            probes=plan.probes,
            root=root,
            scratch=disks.PLACE if disk else DISK_PLACE if plan.disk_mb else MEMORY_PLACE,
            disk=disk,
        )

    def describe_guest(
        self,
        kernel: kernels.Kernel,
        folder: Path,
        *,
        program: str | Path = qemu.PROGRAM,
        accelerator: qemu.Accelerator = "tcg",
        quantum: int | None = None,
        seed: int | None = None,
    ) -> qemu.Machine:
        """Return a guest whose files are made in ``folder``. Raises MissingError if kernel or image are damaged."""
        settings, plan = self.plan.settings, self.plan
        self.require_whole(kernel)
        return qemu.Machine(
            kernel=kernel.vmlinux,
            initramfs=folder / "initramfs",
            console=folder / "console.txt",
            cpus=settings.cpus,
            memory_mb=settings.memory_mb,
            clock=plan.clock,
            accelerator=accelerator,
            program=program,
            quantum=quantum,
            topology=plan.topology,
            seed=seed or 0,
            image=self._image.path if self._image is not None else None,
            disk=ext4.write_blank(folder / "disk", disks.room_mb(plan)) if plan.disk_mb else None,
            swap=swap.make(folder / "swap", plan.swap_mb) if plan.swap_mb else None,
        )

    def require_whole(self, kernel: kernels.Kernel) -> None:
        """Raise MissingError unless kernel and image are those of the fingerprint; to be called at each boot."""
        kernel.require_whole()
        if self._image is not None and not self._image.is_whole:
            raise MissingError(f"{self._image.path} was changed while the campaign ran: runoff resume makes it again")

    def make_cargo(self) -> Cargo:
        """Return the content of the guest's initramfs besides the agent."""
        cargo = guest_paths.collect_cargo(self.plan)
        if not self.plan.has_elevators:
            return cargo
        with self._lock:
            if not self._content.exists():
                ext4.write_blocks(self._content, self.plan.disk_mb)
        files = {**cargo.files, disks.CONTENT: self._content}
        return replace(cargo, files=files, modules=disks.list_modules(self.plan))

    def fingerprint(self, guests: Mapping[str, Any], emulation: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tables of a report: about the ``guests`` by kernel, kernels, image and QEMU (``emulation``)."""
        names = list(dict.fromkeys(kernel.name for kernel in self._kernels.values()))
        tables = {name: make_machine_tables(guests[name]) for name in names if name in guests}
        image = self._image
        return {
            **tables.pop(names[0], {}),
            **{f"guest with {name}": table for name, table in tables.items()},
            "kernels": {kernel.name: kernel.sha256 for kernel in self._kernels.values()},
            "kernel_names": self._kernel_names,
            **({} if image is None else {"image": {"sha256": image.sha256, "packages": dict(image.packages)}}),
            "qemu": {**emulation, **({"topology": self.plan.settings.topology} if self.plan.topology else {})},
        }

    def close(self) -> None:
        """Remove the files that only the guests needed."""
        self._content.unlink(missing_ok=True)


def _needs_image(definition: Definition) -> bool:
    """Return whether the work needs a root file system: programs inside the agent do not."""
    commands = [argv for argv in (*definition.prepare, definition.command) if argv]
    return any(argv[0] != "runoff-agent" for argv in commands) or bool(definition.programs)
