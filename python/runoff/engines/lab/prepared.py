"""The part that the lab's engines share: kernels, image, and the description of a guest. It runs no guest."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

from runoff.engines import capacity, ext4
from runoff.engines.agent import check_request, make_sample_request
from runoff.engines.base import make_machine_tables
from runoff.engines.distribution import render_install
from runoff.engines.lab import disks, guest_paths, qemu, swap
from runoff.engines.lab.guest import DISK_PLACE, IMAGE_ROOT, MEMORY_PLACE, Cargo
from runoff.engines.lab.kernel import Kernel
from runoff.engines.lab.supplies import Supplies, find_supplies
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan

BOOT_LIMIT_S = 180.0


class PreparedMachine:
    """The kernels and the image of a plan, and the description of guests with them."""

    def __init__(self, plan: Plan, folder: Path, supplies: Supplies | None = None) -> None:
        """``folder`` is the engine's directory; ``supplies`` have come from another machine."""
        self.plan = plan
        self._content = folder / "disk.blocks"
        self._folder = folder
        self._found = supplies
        self._lock = threading.Lock()

    def prepare(self, say: Callable[[str], None]) -> None:
        """Find the kernels and make the image. Raises RunoffError if the machine lacks something."""
        if which(qemu.PROGRAM) is None:
            raise MissingError(f"the lab needs {qemu.PROGRAM}: {render_install(['qemu-system-x86'])}")
        plan = self.plan
        capacity.require(plan.loads, capacity.measure_guest(plan.settings, plan.disk_mb, plan.swap_mb))
        self._found = self._found or find_supplies(plan, say)
        self._folder.mkdir(parents=True, exist_ok=True)

    @property
    def supplies(self) -> Supplies:
        """What the guests are made of; there once all is prepared."""
        assert self._found is not None
        return self._found

    def find_kernel(self, arm: Arm) -> Kernel:
        """Return the kernel that ``arm`` runs on."""
        return self.supplies.find_kernel(self.plan, arm)

    def request(self, cell: Cell) -> dict[str, Any]:
        """Return the request to the guest's agent for one sample."""
        plan = self.plan
        arm, work, load = plan.arms[cell.arm], plan.works[cell.work], plan.loads[cell.load]
        root = IMAGE_ROOT if self.supplies.image is not None else None
        disk = disks.make_request(arm.elevator, plan, root) if arm.elevator is not None else None
        return make_sample_request(
            cell.id,
            guest_paths.translate_scheduler(plan, arm),
            guest_paths.translate_work(work),
            None if load is None else guest_paths.translate_work(load),
            flush=plan.settings.flush,
            probes=plan.probes,
            root=root,
            scratch=disks.PLACE if disk else DISK_PLACE if plan.disk_mb else MEMORY_PLACE,
            disk=disk,
            settings=arm.settings,
            controllers=plan.controllers,
        )

    def check_request(self, arm: Arm) -> dict[str, Any] | None:
        """Return the request that tries an arm in a guest; None where there is nothing to try."""
        if not arm.needs_sched_ext and not self.plan.has_settings(arm):
            return None
        scheduler, works = guest_paths.translate_scheduler(self.plan, arm), self.plan.list_work_settings(arm)
        return check_request(scheduler, settings=arm.of_machine, works=works)

    def describe_guest(
        self,
        kernel: Kernel,
        folder: Path,
        *,
        program: str | Path = qemu.PROGRAM,
        accelerator: qemu.Accelerator = "tcg",
        quantum: int | None = None,
        seed: int | None = None,
        parameters: str = "",
    ) -> qemu.Machine:
        """Return a guest whose files are made in ``folder``. Raises MissingError if kernel or image are damaged."""
        settings, plan, image = self.plan.settings, self.plan, self.supplies.image
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
            parameters=parameters,
            topology=plan.topology,
            seed=seed or 0,
            image=image.path if image is not None else None,
            disk=ext4.write_blank(folder / "disk", disks.room_mb(plan)) if plan.disk_mb else None,
            swap=swap.make(folder / "swap", plan.swap_mb) if plan.swap_mb else None,
        )

    def require_whole(self, kernel: Kernel) -> None:
        """Raise MissingError unless kernel and image are those of the fingerprint; to be called at each boot."""
        kernel.require_whole()
        image = self.supplies.image
        if image is not None and not image.is_whole:
            raise MissingError(f"{image.path} was changed while the campaign ran: it is made again by runoff resume")

    def make_cargo(self) -> Cargo:
        """Return the content of the guest's initramfs."""
        cargo = self.supplies.cargo
        if not self.plan.has_elevators:
            return cargo
        with self._lock:
            if not self._content.exists():
                ext4.write_blocks(self._content, self.plan.disk_mb)
        files = {**cargo.files, disks.CONTENT: self._content}
        return replace(cargo, files=files, modules=(*cargo.modules, *disks.list_modules(self.plan)))

    def fingerprint(self, guests: Mapping[str, Any], emulation: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tables of a report: about the ``guests`` by kernel, kernels, image and QEMU (``emulation``)."""
        kernels, image = self.supplies.kernels, self.supplies.image
        names = list(dict.fromkeys([*(kernel.name for kernel in kernels.values()), *sorted(guests)]))
        tables = {name: make_machine_tables(guests[name]) for name in names if name in guests}
        return {
            **tables.pop(names[0], {}),
            **{f"guest with {name}": table for name, table in tables.items()},
            "kernels": {kernel.name: kernel.sha256 for kernel in kernels.values()},
            "kernel_names": {asked: kernel.name for asked, kernel in kernels.items()},
            **({} if image is None else {"image": {"sha256": image.sha256, "packages": dict(image.packages)}}),
            "qemu": {**emulation, **({"topology": self.plan.settings.topology} if self.plan.topology else {})},
        }

    def close(self) -> None:
        """Remove the files that only the guests needed."""
        self._content.unlink(missing_ok=True)
