"""The lab under the virtual clock: every sample has a guest of its own, so none can depend on another.

The guest is a copy of one that was booted once, or a boot where runoff's QEMU is missing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runoff.engines.agent import AgentLost
from runoff.engines.base import OnPhase
from runoff.engines.lab import accelerator, guest_paths, qemu, snapshot
from runoff.engines.lab.emulator import build
from runoff.engines.lab.emulator import store as emulators
from runoff.engines.lab.guest import Guest, Orders, boot
from runoff.engines.lab.kernel import Kernel
from runoff.engines.lab.prepared import BOOT_LIMIT_S, PreparedMachine
from runoff.engines.lab.running import RunningGuests, name_guest
from runoff.engines.lab.snapshots import Snapshots
from runoff.engines.lab.supplies import Supplies
from runoff.engines.limits import CHECK_LIMIT_S, silence_limit_s
from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm, VoidSample
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan

SLOWDOWN = 20.0
"""A virtual second of one busy CPU takes several real ones, and CPUs take turns on one of the host: limits are
stretched by this factor per CPU, so that a guest that hangs has used up its own time first."""


MOST_SLOTS = 64


class VirtualClockLab:
    """The lab's engine under the virtual clock; see ``Engine``."""

    whole_blocks = False
    slots = MOST_SLOTS
    unmixable_tables = ("kernels", "qemu")

    def __init__(self, plan: Plan, folder: Path, supplies: Supplies | None = None) -> None:
        """``folder`` stores the consoles, one directory for each guest; ``supplies`` are found here if there are
        none."""
        self._plan = plan
        self._folder = folder
        self._slowdown = SLOWDOWN * plan.settings.cpus
        self._prepared = PreparedMachine(plan, folder, supplies)
        self._running = RunningGuests(folder)
        self._emulator = supplies.emulator if supplies is not None else None
        self._snapshots: Snapshots | None = None
        self._say: Callable[[str], None] = lambda _: None

    def prepare(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._prepared.prepare(say)
        self._emulator = self._emulator or self._find_emulator(say)
        if self._emulator is None:
            return
        self._snapshots = Snapshots(
            self._folder / "kept",
            lambda kernel, parameters, folder: self._describe_guest(kernel, parameters, folder, None),
            self._prepared.make_cargo,
            BOOT_LIMIT_S * self._slowdown,
        )
        for arm in self._plan.arms:
            self._find_snapshot(self._snapshots, arm)

    def _find_emulator(self, say: Callable[[str], None]) -> emulators.Emulator | None:
        """Return runoff's QEMU; None if it was not built and the guest has one CPU, for which any QEMU will do."""
        if self._plan.settings.cpus == 1:
            return emulators.find_current()
        return emulators.find_current() or build.ensure(say)

    @property
    def supplies(self) -> Supplies:
        return replace(self._prepared.supplies, emulator=self._emulator)

    def list_snapshots(self) -> list[Path]:
        return self._snapshots.list_directories() if self._snapshots is not None else []

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        request = self._prepared.check_request(arm)
        if request is None:
            return AcceptedArm()
        try:
            guest = self._start(arm, Orders(seed=0, requests=[request]), CHECK_LIMIT_S)
            try:
                return guest.agent.check(request, CHECK_LIMIT_S * self._slowdown)
            finally:
                self._running.end(guest)
        except AgentLost as lost:
            return RefusedArm(f"the guest was lost: {lost}", "", lost=True)

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        plan = self._plan
        limit_s = silence_limit_s(plan.works[cell.work], plan.loads[cell.load])
        request = self._prepared.request(cell)
        try:
            guest = self._start(plan.arms[cell.arm], Orders(seed=cell.seed, requests=[request]), limit_s)
        except AgentLost as lost:
            return VoidSample(str(lost))
        try:
            return guest.agent.take(request, on_phase, limit_s * self._slowdown)
        except AgentLost as lost:
            guest.kill()
            return VoidSample(f"the guest was lost: {guest.last_words() or lost}")
        finally:
            self._running.end(guest)

    def _start(self, arm: Arm, orders: Orders, budget_s: float) -> Guest:
        """Start a guest that may use ``budget_s`` of its own time, so that one that hangs ends at the same moment
        everywhere. Raises AgentLost."""
        kernel = self._prepared.find_kernel(arm)
        folder = self._running.make_folder()
        if self._snapshots is not None:
            guest = self._copy(self._snapshots, arm, folder, orders, budget_s)
        else:
            machine = self._describe_guest(kernel, arm.command_line, folder, orders.seed)
            guest = boot(folder, machine, kernel, self._prepared.make_cargo(), orders, BOOT_LIMIT_S)
        self._running.add(guest, name_guest(kernel.name, arm.command_line))
        return guest

    def _copy(self, snapshots: Snapshots, arm: Arm, folder: Path, orders: Orders, budget_s: float) -> Guest:
        """Copy the arm's snapshot. One that was removed or damaged meanwhile is made again."""
        self._require_whole(self._prepared.find_kernel(arm))
        found = self._find_snapshot(snapshots, arm)
        try:
            return snapshot.restore(found, folder, orders, BOOT_LIMIT_S, budget_s)
        except AgentLost:
            snapshots.forget(found)
            return snapshot.restore(self._find_snapshot(snapshots, arm), folder, orders, BOOT_LIMIT_S, budget_s)

    def _find_snapshot(self, snapshots: Snapshots, arm: Arm) -> snapshot.Snapshot:
        kernel = self._prepared.find_kernel(arm)
        if arm.can_be_ready:
            scheduler = guest_paths.translate_scheduler(self._plan, arm)
            return snapshots.find_ready(kernel, arm.command_line, arm.label, scheduler, self._say)
        return snapshots.find_quiet(kernel, arm.command_line, self._say)

    def _describe_guest(self, kernel: Kernel, parameters: str, folder: Path, seed: int | None) -> qemu.Machine:
        self._require_whole(kernel)
        if self._emulator is None:
            return self._prepared.describe_guest(kernel, folder, seed=seed, parameters=parameters)
        program, quantum = self._emulator.program, self._plan.settings.quantum
        return self._prepared.describe_guest(
            kernel, folder, program=program, quantum=quantum, seed=seed, parameters=parameters
        )

    def _require_whole(self, kernel: Kernel) -> None:
        """Raise MissingError unless kernel, image and QEMU are those of the fingerprint."""
        self._prepared.require_whole(kernel)
        if self._emulator is not None and not self._emulator.is_whole:
            raise MissingError(f"{self._emulator.program} is not what was built: build it anew", hint=("qemu", "build"))

    def fingerprint(self) -> Mapping[str, Any]:
        tables = self._prepared.fingerprint(self._running.fingerprints, self._describe_emulation())
        return {**tables, "snapshots": self._snapshots.names if self._snapshots else {}}

    def _describe_emulation(self) -> Mapping[str, Any]:
        if self._emulator is None:
            return {
                "version": accelerator.qemu_version(),
                "sha256": accelerator.qemu_sha256(),
                "accelerator": "tcg",
                "note": "",
            }
        meta = self._emulator.meta
        return {
            "version": meta.version,
            "accelerator": "tcg",
            "runoff's": self._emulator.name,
            "sha256": meta.sha256,
            "quantum": self._plan.settings.quantum,
        }

    def warnings(self) -> tuple[str, ...]:
        return (
            "virtual clock: one instruction counts as one nanosecond, so caches, memory and "
            "branch prediction cost nothing; compare instruction paths, not machines",
            *filter(None, [self._plan.topology.untold if self._plan.topology else None]),
        )

    def abandon(self) -> None:
        self._running.terminate_all()

    def close(self) -> None:
        self._running.end_all()
        self._prepared.close()
