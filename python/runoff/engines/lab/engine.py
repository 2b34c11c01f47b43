"""The lab engine: samples on a real kernel in QEMU."""

import itertools
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

from runoff.arms import Arm
from runoff.campaign.order import Cell
from runoff.engines import ext4, room
from runoff.engines.agent import AgentLost, check_request, sample_request
from runoff.engines.base import OnPhase
from runoff.engines.host import CHECK_LIMIT_S, machine_tables, silence_limit_s
from runoff.engines.lab import accelerator, disks, qemu, swap
from runoff.engines.lab import image as images
from runoff.engines.lab import kernel as kernels
from runoff.engines.lab.guest import DISK_PLACE, IMAGE_ROOT, MEMORY_PLACE, Cargo, Guest, Orders, boot
from runoff.engines.outcome import Accepted, Outcome, Refused, Voided
from runoff.errors import MissingError
from runoff.plan import Plan
from runoff.workloads import Definition

BOOT_LIMIT_S = 180.0

VIRTUAL_SLOWDOWN = 20.0
"""A busy virtual second takes several of the wall's; limits are stretched by this much."""


class LabEngine:
    """See ``Engine``. Under the real clock one guest serves all samples of a kernel; under the
    virtual clock every sample has a boot of its own, so none can depend on another."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        """``folder`` keeps the consoles, one file a boot."""
        self._plan = plan
        self._folder = folder
        self._content = folder / "disk.blocks"
        self._virtual = plan.settings.clock == "virtual"
        self.parallel = self._virtual
        self._kernels: dict[str | None, kernels.Kernel] = {}
        self._image: images.Image | None = None
        self._accelerator: qemu.Accelerator = "tcg"
        self._why_tcg = ""
        self._guest: Guest | None = None
        self._guest_kernel: str | None = None
        self._fingerprints: dict[str, Any] = {}
        self._boots = itertools.count()
        self._running: set[Guest] = set()
        self._lock = threading.Lock()

    def prepare(self, say: Callable[[str], None]) -> None:
        if which(qemu.PROGRAM) is None:
            raise MissingError(f"the lab needs {qemu.PROGRAM}: apt-get install qemu-system-x86")
        plan = self._plan
        room.require(plan.loads, room.guest(plan.settings, plan.disk_mb, plan.swap_mb))
        for arm in self._plan.arms:
            self._find_kernel(arm)
        definitions = self._plan.definitions
        if any(_needs_image(definition) for definition in definitions):
            wanted = images.needs(definitions, self._plan.settings.packages)
            self._image = images.ensure(wanted, say)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._virtual:
            first = self._kernels[self._plan.arms[0].kernel]
            self._accelerator, self._why_tcg = accelerator.choose(first, self._folder, say)

    def _find_kernel(self, arm: Arm) -> None:
        if arm.kernel in self._kernels:
            kernel = self._kernels[arm.kernel]
        else:
            name = arm.kernel or self._plan.settings.kernel
            kernel = kernels.find(name) if name else kernels.default()
            self._kernels[arm.kernel] = kernel
        if arm.needs_sched_ext and not kernel.sched_ext:
            why = kernel.meta.objection or "it has no sched_ext"
            raise MissingError(
                f"arm {arm.label!r} cannot run on the kernel {kernel.name}: {why}; "
                "add one that takes schedulers by: runoff kernel add debian"
            )
        if arm.needs_sched_ext and not kernel.btf:
            raise MissingError(f"arm {arm.label!r}: the kernel {kernel.name} has no BTF (CONFIG_DEBUG_INFO_BTF)")

    def check(self, arm: Arm) -> Accepted | Refused:
        if not arm.needs_sched_ext:
            return Accepted()
        request = check_request(_in_guest(self._plan, arm))
        try:
            if not self._virtual:
                return self._guest_for(arm.kernel).agent.check(request, CHECK_LIMIT_S)
            guest = self._boot(arm.kernel, Orders(seed=0, requests=[request]))
            try:
                return guest.agent.check(request, CHECK_LIMIT_S * VIRTUAL_SLOWDOWN)
            finally:
                self._end(guest)
        except AgentLost as lost:
            return Refused(f"the guest was lost: {lost}", self._lose(), lost=True)

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        plan = self._plan
        arm, work, load = plan.arms[cell.arm], plan.works[cell.work], plan.loads[cell.load]
        root = IMAGE_ROOT if self._image is not None else None
        disk = disks.request(arm.elevator, plan, root) if arm.elevator is not None else None
        request = sample_request(
            cell.id,
            _in_guest(plan, arm),
            work,
            load,
            flush=plan.settings.flush,
            probes=plan.probes,
            root=root,
            scratch=disks.PLACE if disk else DISK_PLACE if plan.disk_mb else MEMORY_PLACE,
            disk=disk,
        )
        limit_s = silence_limit_s(work, load)
        if self._virtual:
            return self._take_alone(arm, cell, request, limit_s * VIRTUAL_SLOWDOWN, on_phase)
        try:
            return self._guest_for(arm.kernel).agent.take(request, on_phase, limit_s)
        except AgentLost as lost:
            reason = self._lose()
            return Voided(f"the guest was lost: {reason or lost}")

    def _take_alone(
        self, arm: Arm, cell: Cell, request: Mapping[str, Any], limit_s: float, on_phase: OnPhase
    ) -> Outcome:
        try:
            guest = self._boot(arm.kernel, Orders(seed=cell.seed, requests=[request]))
        except AgentLost as lost:
            return Voided(str(lost))
        try:
            return guest.agent.take(request, on_phase, limit_s)
        except AgentLost as lost:
            guest.kill()
            return Voided(f"the guest was lost: {guest.last_words() or lost}")
        finally:
            self._end(guest)

    def _guest_for(self, kernel: str | None) -> Guest:
        if self._guest is not None and self._guest_kernel != kernel:
            self._end(self._guest)
            self._guest = None
        if self._guest is None:
            self._guest = self._boot(kernel, Orders())
            self._guest_kernel = kernel
        return self._guest

    def _boot(self, name: str | None, orders: Orders) -> Guest:
        kernel, settings = self._kernels[name], self._plan.settings
        with self._lock:
            number = next(self._boots)
        folder = self._folder / f"boot-{os.getpid()}-{number}"
        folder.mkdir()
        machine = qemu.Machine(
            kernel=kernel.vmlinux,
            initramfs=folder / "initramfs",
            console=folder / "console.txt",
            cpus=settings.cpus,
            memory_mb=settings.memory_mb,
            clock=settings.clock,
            accelerator=self._accelerator,
            seed=orders.seed or 0,
            image=self._image.path if self._image is not None else None,
            disk=ext4.blank(folder / "disk", disks.room_mb(self._plan)) if self._plan.disk_mb else None,
            swap=swap.make(folder / "swap", self._plan.swap_mb) if self._plan.swap_mb else None,
        )
        guest = boot(folder, machine, kernel, self._cargo(), orders, BOOT_LIMIT_S)
        with self._lock:
            self._running.add(guest)
            self._fingerprints.setdefault(kernel.name, guest.fingerprint)
        return guest

    def _cargo(self) -> Cargo:
        cargo = _cargo(self._plan)
        if not self._plan.has_elevators:
            return cargo
        with self._lock:
            if not self._content.exists():
                ext4.blocks(self._content, self._plan.disk_mb)
        files = {**cargo.files, disks.CONTENT: self._content}
        return replace(cargo, files=files, modules=disks.modules(self._plan))

    def _lose(self) -> str:
        if self._guest is None:
            return ""
        self._guest.kill()
        words = self._guest.last_words()
        self._end(self._guest)
        self._guest = None
        return words

    def _end(self, guest: Guest) -> None:
        guest.close()
        with self._lock:
            self._running.discard(guest)

    def fingerprint(self) -> Mapping[str, Any]:
        image = self._image
        first, *others = self._fingerprints.items() or [("", {})]
        return {
            **machine_tables(first[1]),
            **{f"guest with {name}": machine_tables(tables) for name, tables in others},
            "kernels": {kernel.name: kernel.sha256 for kernel in self._kernels.values()},
            "image": None if image is None else {"sha256": image.sha256, "packages": dict(image.packages)},
            "qemu": {"version": accelerator.qemu_version(), "accelerator": self._accelerator, "note": self._why_tcg},
        }

    def warnings(self) -> tuple[str, ...]:
        if self._virtual:
            return (
                "virtual clock: one instruction counts as one nanosecond, so caches, memory and "
                "branch prediction cost nothing; compare instruction paths, not machines",
            )
        if self._accelerator == "tcg":
            unsafe = accelerator.unsafe_emulation(self._plan.settings.cpus)
            late = disks.LATE if self._plan.has_elevators else None
            return (
                *filter(None, [unsafe, late]),
                "emulated CPUs: times are several times those of a real machine and weigh its "
                f"instructions differently ({self._why_tcg})",
            )
        return ()

    def abandon(self) -> None:
        with self._lock:
            running = list(self._running)
        for guest in running:
            guest.agent.terminate()

    def close(self) -> None:
        with self._lock:
            running = list(self._running)
        for guest in running:
            self._end(guest)
        self._guest = None
        self._content.unlink(missing_ok=True)


def _needs_image(definition: Definition) -> bool:
    """Work that the agent itself can do needs no root file system."""
    commands = [argv for argv in (*definition.prepare, definition.command) if argv]
    return any(argv[0] != "runoff-agent" for argv in commands) or bool(definition.programs)


def _object_path(index: int) -> str:
    return f"/objects/{index}.bpf.o"


def _in_guest(plan: Plan, arm: Arm) -> Mapping[str, Any]:
    """The arm's scheduler with the paths it has inside the guest."""
    if arm.scheduler["kind"] == "object":
        return {**arm.scheduler, "path": _object_path(plan.arms.index(arm))}
    if arm.scheduler["kind"] == "program":
        program, *arguments = arm.scheduler["argv"]
        return {**arm.scheduler, "argv": [_program_path(plan.arms.index(arm), program), *arguments]}
    return arm.scheduler


def _program_path(index: int, program: str) -> str:
    """Not the path it has on the host: that may lie where the guest mounts something, like /tmp."""
    return f"/programs/{index}/{Path(program).name}"


def _host_program(name: str) -> Path:
    found = which(name)
    if found is None:
        raise MissingError(f"the program {name} was not found: install it, or give its path")
    return Path(found).resolve()


def _cargo(plan: Plan) -> Cargo:
    objects = {
        _object_path(index): Path(arm.scheduler["path"])
        for index, arm in enumerate(plan.arms)
        if arm.scheduler["kind"] == "object"
    }
    programs = {
        _program_path(index, arm.scheduler["argv"][0]): _host_program(arm.scheduler["argv"][0])
        for index, arm in enumerate(plan.arms)
        if arm.scheduler["kind"] == "program"
    }
    return Cargo(objects, programs)
