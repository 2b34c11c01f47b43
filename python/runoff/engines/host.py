"""The host engine: samples on this machine's kernel, one after the other, as root."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import psutil

from runoff.arms import Arm
from runoff.campaign.order import Cell
from runoff.engines import disks, ext4, room
from runoff.engines.agent import Agent, AgentLost, check_request, find_agent, sample_request, sweep
from runoff.engines.base import OnPhase
from runoff.engines.outcome import Accepted, Outcome, Refused, Voided
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.plan import Plan
from runoff.workloads import Work

SCHED_EXT = Path("/sys/kernel/sched_ext")
UBLK = Path("/dev/ublk-control")

SCRATCH = Path("/tmp")
"""Below this workloads and loads have their directories (crates/agent/src/protocol.rs)."""

CHECK_LIMIT_S = 60.0
MARGIN_S = 60.0
"""What attaching, detaching and cleaning up may take beyond a command's own time-out."""


class HostEngine:
    """See ``Engine``."""

    parallel = False

    def __init__(self, plan: Plan, folder: Path) -> None:
        """``folder`` keeps what disks are filled with."""
        self._plan = plan
        self._content = folder / "disk.blocks"
        self._agent: Agent | None = None
        self._fingerprint: Mapping[str, Any] = {}

    def prepare(self, say: Callable[[str], None]) -> None:
        if os.geteuid() != 0:
            raise MissingError("the host engine needs root: run it with sudo, or use --on lab")
        if any(arm.needs_sched_ext for arm in self._plan.arms) and not SCHED_EXT.is_dir():
            raise MissingError(
                "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT, Linux 6.12 or newer): use --on lab, "
                "or compare on a newer kernel"
            )
        for work in self._plan.works:
            require_programs("workload", work)
        for load in self._plan.loads:
            if load is not None:
                require_programs("load", load)
        if self._plan.settings.place is not None:
            require_own(Path(self._plan.settings.place))
        for each in self._rooms():
            room.require(self._plan.loads, each)
        self._start()
        if self._plan.makes_disks:
            self._prepare_disks()

    def _rooms(self) -> Iterator[room.Room]:
        """Where loads will work."""
        plan = self._plan
        here = room.here(Path(plan.settings.place or SCRATCH))
        if not plan.makes_disks or any(arm.elevator is None for arm in plan.arms):
            yield here
        if plan.makes_disks:
            yield replace(here, where="arms with +io=", disk_mb=plan.disk_mb)

    def _prepare_disks(self) -> None:
        if not UBLK.exists():
            raise MissingError(
                "arms with +io= need the driver of ublk disks (Linux 6.5 or newer): modprobe ublk_drv; "
                "or give --place DIR to switch the elevators of the disk that has DIR"
            )
        available_mb = psutil.virtual_memory().available // room.MEBIBYTE
        if self._plan.disk_mb > available_mb:
            raise MissingError(
                f"the disk of arms with +io= has its {self._plan.disk_mb} MiB in memory, of which {available_mb} MiB "
                "are available: choose a smaller --disk"
            )
        ext4.blocks(self._content, self._plan.disk_mb)

    def _start(self) -> Agent:
        if self._agent is None:
            self._agent = Agent([find_agent(), "session"])
            try:
                self._fingerprint = self._agent.hello(CHECK_LIMIT_S)
            except AgentLost as lost:
                raise MissingError(f"the agent cannot work here: {self._lose() or lost}") from None
        return self._agent

    def check(self, arm: Arm) -> Accepted | Refused:
        try:
            agent = self._start()
            scratch, disk = self._below(arm, agent)
            if disk is None and not arm.needs_sched_ext:
                return Accepted()
            return agent.check(check_request(arm.scheduler, scratch=scratch, disk=disk), CHECK_LIMIT_S)
        except AgentLost as lost:
            return Refused(f"the agent was lost: {lost}", self._lose(), lost=True)

    def _below(self, arm: Arm, agent: Agent) -> tuple[str, Mapping[str, Any] | None]:
        """Where the directories of an arm's work are, and its disk as the agent is told of it."""
        plan = self._plan
        if plan.settings.place is not None:
            return plan.settings.place, disks.borrowed(arm.elevator)
        if arm.elevator is None:
            return str(SCRATCH), None
        # Named as what the agent of another campaign removes if this one is killed (crates/agent/src/scratch.rs).
        return f"/run/runoff-{agent.pid}-disk", disks.made(arm.elevator, plan, self._content.absolute(), None)

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        agent = self._start()
        plan = self._plan
        arm, work, load = plan.arms[cell.arm], plan.works[cell.work], plan.loads[cell.load]
        scratch, disk = self._below(arm, agent)
        request = sample_request(
            cell.id,
            arm.scheduler,
            work,
            load,
            flush=plan.settings.flush,
            probes=plan.probes,
            scratch=scratch,
            disk=disk,
        )
        try:
            return agent.take(request, on_phase, silence_limit_s(work, load))
        except AgentLost as lost:
            return Voided(f"the agent was lost: {lost}", self._lose())

    def _lose(self) -> str:
        """Forget the agent and put back what it left; its last words."""
        if self._agent is None:
            return ""
        words = self._agent.last_words()
        self._agent.kill()
        self._agent = None
        try:
            sweep()
        except RunoffError as error:
            return f"{words}\n{error}".strip()
        return words

    def fingerprint(self) -> Mapping[str, Any]:
        return machine_tables(self._fingerprint)

    def warnings(self) -> tuple[str, ...]:
        told = self._agent.log if self._agent is not None else ()
        if self._fingerprint.get("hardware", {}).get("hypervisor"):
            return (*told, "this machine is a virtual one: its host may take CPU time away unseen")
        return tuple(told)

    def abandon(self) -> None:
        if self._agent is not None:
            self._agent.terminate()

    def close(self) -> None:
        self._content.unlink(missing_ok=True)
        if self._agent is not None:
            self._agent.close()
            self._agent = None
            # Nothing, unless it had to be killed or could not put something back, which must not go unsaid.
            sweep()


def require_own(place: Path) -> None:
    """Raises UsageError unless what root writes in ``place`` stays there, whatever others do."""
    try:
        about = place.stat()
    except OSError as error:
        raise UsageError(f"--place {place}: {error.strerror}") from None
    if not stat.S_ISDIR(about.st_mode):
        raise UsageError(f"--place {place} is no directory")
    shared = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not about.st_mode & stat.S_ISVTX
    if about.st_uid != 0 or shared:
        raise UsageError(
            f"--place {place} is not root's alone, so that others could lead elsewhere what runoff writes there: "
            f"make one that is, such as by sudo mkdir {place}/runoff-work"
        )


def machine_tables(agent: Mapping[str, Any]) -> dict[str, Any]:
    """An agent's fingerprint as the tables of a report."""
    tables = dict(agent)
    return {"machine": tables.pop("hardware", {}), "kernel": tables.pop("kernel", {}), **tables}


def silence_limit_s(work: Work, load: Work | None = None) -> float:
    """Longest time between two events of one sample."""
    definitions = [each.definition for each in (work, load) if each is not None]
    if load is not None and load.definition.rehearse:
        definitions.append(work.definition)
    return sum((len(each.prepare) + 1) * each.timeout_s for each in definitions) + MARGIN_S


def require_programs(noun: str, work: Work) -> None:
    """Raises MissingError naming the program and the package that holds it."""
    for program in work.definition.programs:
        if which(program) is None:
            packages = " ".join(work.definition.packages)
            raise MissingError(f"{noun} {work.label!r} needs {program}: apt-get install {packages}")
    for path in work.files:
        if not Path(path).exists():
            raise MissingError(f"{noun} {work.label!r} needs {path} on the host: put it there, or use --on lab")
