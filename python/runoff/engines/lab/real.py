"""The lab under the real clock: one guest serves until a sample needs another kernel, or the guest is lost."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from runoff.engines.agent import AgentLost
from runoff.engines.base import OnPhase
from runoff.engines.lab import accelerator, disks, qemu
from runoff.engines.lab.guest import Guest, Orders, boot
from runoff.engines.lab.prepared import BOOT_LIMIT_S, PreparedMachine
from runoff.engines.lab.running import RunningGuests, name_guest
from runoff.engines.lab.supplies import Supplies
from runoff.engines.limits import CHECK_LIMIT_S, silence_limit_s
from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm, VoidSample
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan


class RealClockLab:
    """The lab's engine under the real clock; see ``Engine``."""

    whole_blocks = True
    slots = 1
    unmixable_tables = ("kernels",)

    def __init__(self, plan: Plan, folder: Path, supplies: Supplies | None = None) -> None:
        """``folder`` stores the consoles, one directory for each boot; ``supplies`` are found here if there are
        none."""
        self._plan = plan
        self._prepared = PreparedMachine(plan, folder, supplies)
        self._running = RunningGuests(folder)
        self._accelerator: qemu.Accelerator = "tcg"
        self._why_tcg = ""
        self._guest: Guest | None = None
        self._booted: tuple[str | None, str] = (None, "")

    def prepare(self, say: Callable[[str], None]) -> None:
        self._prepared.prepare(say)
        self._accelerator, self._why_tcg = accelerator.choose(self._prepared.find_kernel(self._plan.arms[0]), say)

    @property
    def supplies(self) -> Supplies:
        return self._prepared.supplies

    def list_snapshots(self) -> list[Path]:
        return []

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        request = self._prepared.check_request(arm)
        if request is None:
            return AcceptedArm()
        try:
            return self._guest_for(arm).agent.check(request, CHECK_LIMIT_S)
        except AgentLost as lost:
            return RefusedArm(f"the guest was lost: {lost}", self._lose(), lost=True)

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        plan = self._plan
        limit_s = silence_limit_s(plan.works[cell.work], plan.loads[cell.load])
        request = self._prepared.request(cell)
        try:
            return self._guest_for(plan.arms[cell.arm]).agent.take(request, on_phase, limit_s)
        except AgentLost as lost:
            reason = self._lose()
            return VoidSample(f"the guest was lost: {reason or lost}")

    def _guest_for(self, arm: Arm) -> Guest:
        wanted = (arm.kernel, arm.command_line)
        if self._guest is not None and self._booted != wanted:
            self._running.end(self._guest)
            self._guest = None
        if self._guest is None:
            self._guest = self._boot(arm)
            self._booted = wanted
        return self._guest

    def _boot(self, arm: Arm) -> Guest:
        kernel = self._prepared.find_kernel(arm)
        folder = self._running.make_folder()
        machine = self._prepared.describe_guest(
            kernel, folder, accelerator=self._accelerator, parameters=arm.command_line
        )
        guest = boot(folder, machine, kernel, self._prepared.make_cargo(), Orders(), BOOT_LIMIT_S)
        self._running.add(guest, name_guest(kernel.name, arm.command_line))
        return guest

    def _lose(self) -> str:
        """Give up the guest; return its last words."""
        if self._guest is None:
            return ""
        self._guest.kill()
        words = self._guest.last_words()
        self._running.end(self._guest)
        self._guest = None
        return words

    def fingerprint(self) -> Mapping[str, Any]:
        emulation = {
            "version": accelerator.qemu_version(),
            "sha256": accelerator.qemu_sha256(),
            "accelerator": self._accelerator,
            "note": self._why_tcg,
        }
        return {**self._prepared.fingerprint(self._running.fingerprints, emulation), "snapshots": {}}

    def warnings(self) -> tuple[str, ...]:
        untold = self._plan.topology.untold if self._plan.topology else None
        if self._accelerator != "tcg":
            return tuple(filter(None, [untold]))
        unsafe = accelerator.find_unsafe_emulation(self._plan.settings.cpus)
        late = disks.LATE if self._plan.has_elevators else None
        return (
            *filter(None, [unsafe, late, untold]),
            "emulated CPUs: times are several times those of a real machine and weigh its "
            f"instructions differently ({self._why_tcg})",
        )

    def abandon(self) -> None:
        self._running.terminate_all()

    def close(self) -> None:
        self._running.end_all()
        self._guest = None
        self._prepared.close()
