"""The lab engine: samples on a real kernel in QEMU."""

import itertools
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

from runoff.engines import capacity, ext4, requirements
from runoff.engines.agent import AgentLost, check_request, sample_request
from runoff.engines.base import OnPhase, machine_tables
from runoff.engines.lab import accelerator, disks, guest_paths, qemu, snapshot, swap
from runoff.engines.lab import image as images
from runoff.engines.lab import kernel as kernels
from runoff.engines.lab.emulator import build
from runoff.engines.lab.emulator import store as emulators
from runoff.engines.lab.guest import DISK_PLACE, IMAGE_ROOT, MEMORY_PLACE, Cargo, Guest, Orders, boot
from runoff.engines.lab.snapshots import Keeper
from runoff.engines.limits import CHECK_LIMIT_S, silence_limit_s
from runoff.engines.outcome import Accepted, Outcome, Refused, Voided
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.workloads import Definition

BOOT_LIMIT_S = 180.0

USUAL_KERNEL = "usual"
"""What a plan asks for that names no kernel, in the table of the kernels' full names."""

VIRTUAL_SLOWDOWN = 20.0
"""A virtual second of one busy CPU takes several of the wall's, and CPUs take turns on one of the host: limits are
stretched by this much for each, so that a guest which hangs has used up its own time first."""


class LabEngine:
    """See ``Engine``. Under the real clock one guest serves until a sample wants another kernel, or it is lost; under
    the virtual clock every sample has a guest of its own, so none can depend on another: a copy of one that was booted
    once, or a boot where runoff's QEMU is missing."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        """``folder`` keeps the consoles, one file a boot."""
        self._plan = plan
        self._folder = folder
        self._content = folder / "disk.blocks"
        self._virtual = plan.clock == "virtual"
        self.parallel = self._virtual
        self._slowdown = VIRTUAL_SLOWDOWN * plan.settings.cpus
        self._kernels: dict[str | None, kernels.Kernel] = {}
        self._kernel_names: dict[str, str] = {}
        self._image: images.Image | None = None
        self._emulator: emulators.Emulator | None = None
        self._keeper: Keeper | None = None
        self._accelerator: qemu.Accelerator = "tcg"
        self._why_tcg = ""
        self._guest: Guest | None = None
        self._guest_kernel: str | None = None
        self._fingerprints: dict[str, Any] = {}
        self._boots = itertools.count()
        self._running: set[Guest] = set()
        self._lock = threading.Lock()
        self._say: Callable[[str], None] = lambda _: None

    def prepare(self, say: Callable[[str], None]) -> None:
        self._say = say
        if which(qemu.PROGRAM) is None:
            raise MissingError(f"the lab needs {qemu.PROGRAM}: apt-get install qemu-system-x86")
        plan = self._plan
        capacity.require(plan.loads, capacity.guest(plan.settings, plan.disk_mb, plan.swap_mb))
        for arm in self._plan.arms:
            self._find_kernel(arm)
        definitions = self._plan.definitions
        if any(_needs_image(definition) for definition in definitions):
            wanted = images.needs(definitions, self._plan.settings.packages)
            self._image = images.ensure(wanted, say)
            requirements.require_programs_in(self._image.path, self._plan)
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._virtual:
            self._emulator = self._own_qemu(say)
            if self._emulator is not None:
                self._keeper = Keeper(
                    self._folder / "kept",
                    lambda kernel, folder: self._machine(kernel, folder, None),
                    self._cargo,
                    BOOT_LIMIT_S * self._slowdown,
                )
                for arm in plan.arms:
                    self._kept(self._keeper, arm, say)
        else:
            first = self._kernels[self._plan.arms[0].kernel]
            self._accelerator, self._why_tcg = accelerator.choose(first, say)

    def _own_qemu(self, say: Callable[[str], None]) -> emulators.Emulator | None:
        """runoff's; None where it has not been built and one CPU shall do."""
        if self._plan.settings.cpus == 1:
            return emulators.current()
        return emulators.current() or build.ensure(say)

    def _find_kernel(self, arm: Arm) -> None:
        if arm.kernel in self._kernels:
            kernel = self._kernels[arm.kernel]
        else:
            asked = arm.kernel or self._plan.settings.kernel or ""
            name = self._plan.kernels.get(asked or USUAL_KERNEL, asked)
            kernel = kernels.find(name) if name else kernels.default()
            kernel.require_whole()
            self._kernels[arm.kernel] = kernel
            self._kernel_names[asked or USUAL_KERNEL] = kernel.name
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
        request = check_request(guest_paths.in_guest(self._plan, arm))
        try:
            if not self._virtual:
                return self._guest_for(arm).agent.check(request, CHECK_LIMIT_S)
            guest = self._boot(arm, Orders(seed=0, requests=[request]), CHECK_LIMIT_S)
            try:
                return guest.agent.check(request, CHECK_LIMIT_S * self._slowdown)
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
            guest_paths.in_guest(plan, arm),
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
            return self._take_alone(arm, cell, request, limit_s, on_phase)
        try:
            return self._guest_for(arm).agent.take(request, on_phase, limit_s)
        except AgentLost as lost:
            reason = self._lose()
            return Voided(f"the guest was lost: {reason or lost}")

    def _take_alone(
        self, arm: Arm, cell: Cell, request: Mapping[str, Any], limit_s: float, on_phase: OnPhase
    ) -> Outcome:
        try:
            guest = self._boot(arm, Orders(seed=cell.seed, requests=[request]), limit_s)
        except AgentLost as lost:
            return Voided(str(lost))
        try:
            return guest.agent.take(request, on_phase, limit_s * self._slowdown)
        except AgentLost as lost:
            guest.kill()
            return Voided(f"the guest was lost: {guest.last_words() or lost}")
        finally:
            self._end(guest)

    def _guest_for(self, arm: Arm) -> Guest:
        if self._guest is not None and self._guest_kernel != arm.kernel:
            self._end(self._guest)
            self._guest = None
        if self._guest is None:
            self._guest = self._boot(arm, Orders())
            self._guest_kernel = arm.kernel
        return self._guest

    def _kept(self, keeper: Keeper, arm: Arm, say: Callable[[str], None]) -> snapshot.Snapshot:
        kernel = self._kernels[arm.kernel]
        if arm.has_object:
            return keeper.loaded(kernel, arm.label, guest_paths.in_guest(self._plan, arm), say)
        return keeper.quiet(kernel, say)

    def _boot(self, arm: Arm, orders: Orders, budget_s: float | None = None) -> Guest:
        """Under the virtual clock it has so much of its own time, so that one that hangs ends at the same moment
        everywhere."""
        kernel = self._kernels[arm.kernel]
        with self._lock:
            number = next(self._boots)
        folder = self._folder / f"boot-{os.getpid()}-{number}"
        folder.mkdir()
        if self._keeper is not None:
            guest = self._copy(self._keeper, arm, folder, orders, budget_s)
        else:
            machine = self._machine(kernel, folder, orders.seed)
            guest = boot(folder, machine, kernel, self._cargo(), orders, BOOT_LIMIT_S)
        with self._lock:
            self._running.add(guest)
            self._fingerprints.setdefault(kernel.name, guest.fingerprint)
        return guest

    def _copy(self, keeper: Keeper, arm: Arm, folder: Path, orders: Orders, budget_s: float | None) -> Guest:
        """Of the arm's kept guest. One that somebody has removed or damaged meanwhile is made again."""
        self._require_whole(self._kernels[arm.kernel])
        kept = self._kept(keeper, arm, self._say)
        try:
            return snapshot.restore(kept, folder, orders, BOOT_LIMIT_S, budget_s)
        except AgentLost:
            keeper.forget(kept)
            return snapshot.restore(self._kept(keeper, arm, self._say), folder, orders, BOOT_LIMIT_S, budget_s)

    def _machine(self, kernel: kernels.Kernel, folder: Path, seed: int | None) -> qemu.Machine:
        settings, plan = self._plan.settings, self._plan
        self._require_whole(kernel)
        return qemu.Machine(
            kernel=kernel.vmlinux,
            initramfs=folder / "initramfs",
            console=folder / "console.txt",
            cpus=settings.cpus,
            memory_mb=settings.memory_mb,
            clock=plan.clock,
            accelerator=self._accelerator,
            program=self._emulator.program if self._emulator else qemu.PROGRAM,
            quantum=settings.quantum if self._emulator else None,
            topology=plan.topology,
            seed=seed or 0,
            image=self._image.path if self._image is not None else None,
            disk=ext4.blank(folder / "disk", disks.room_mb(plan)) if plan.disk_mb else None,
            swap=swap.make(folder / "swap", plan.swap_mb) if plan.swap_mb else None,
        )

    def _require_whole(self, kernel: kernels.Kernel) -> None:
        """What is booted is what the fingerprint says, at each boot. Raises MissingError."""
        kernel.require_whole()
        if self._image is not None and not self._image.is_whole:
            raise MissingError(f"{self._image.path} was changed while the campaign ran: runoff resume makes it again")
        if self._emulator is not None and not self._emulator.is_whole:
            raise MissingError(f"{self._emulator.program} is not what was built: runoff qemu build makes it anew")

    def _cargo(self) -> Cargo:
        cargo = guest_paths.cargo(self._plan)
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

    @property
    def unmixable(self) -> tuple[str, ...]:
        return ("kernels", "qemu") if self._virtual else ("kernels",)

    def fingerprint(self) -> Mapping[str, Any]:
        image = self._image
        names = list(dict.fromkeys(kernel.name for kernel in self._kernels.values()))
        guests = {name: machine_tables(self._fingerprints[name]) for name in names if name in self._fingerprints}
        return {
            **guests.pop(names[0], {}),
            **{f"guest with {name}": tables for name, tables in guests.items()},
            "kernels": {kernel.name: kernel.sha256 for kernel in self._kernels.values()},
            "kernel_names": self._kernel_names,
            **({} if image is None else {"image": {"sha256": image.sha256, "packages": dict(image.packages)}}),
            "qemu": self._qemu_table(),
            "snapshots": self._keeper.names if self._keeper else {},
        }

    def _qemu_table(self) -> Mapping[str, Any]:
        topology = {"topology": self._plan.settings.topology} if self._plan.topology else {}
        if self._emulator is None:
            known = {"version": accelerator.qemu_version(), "sha256": accelerator.qemu_sha256()}
            return {**known, "accelerator": self._accelerator, "note": self._why_tcg, **topology}
        meta = self._emulator.meta
        return {
            "version": meta.version,
            "accelerator": self._accelerator,
            "runoff's": self._emulator.name,
            "sha256": meta.sha256,
            "quantum": self._plan.settings.quantum,
            **topology,
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
