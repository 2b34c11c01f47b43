"""The host engine: samples on this machine's kernel, one after the other, as root."""

import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from runoff.engines import boots, capacity, cpu_limit, disks, ext4, requirements, tools, ublk
from runoff.engines.agent import (
    SCRATCH,
    Agent,
    AgentLeft,
    AgentLost,
    check_request,
    find_agent,
    make_sample_request,
    sweep,
)
from runoff.engines.base import OnPhase, make_machine_tables
from runoff.engines.limits import CHECK_LIMIT_S, silence_limit_s
from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm, VoidSample
from runoff.engines.programs.find import locate_program
from runoff.engines.questions import find_in_charge
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.ownership import find_other_writer
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan

MOST_TOLD = 5
"""Most messages of agents that are shown in full: work that leaves something does so in every sample."""

SCHED_EXT = Path("/sys/kernel/sched_ext")


class HostEngine:
    """The engine for this machine; see ``Engine``."""

    whole_blocks = True
    slots = 1

    def __init__(self, plan: Plan, folder: Path, *, takes_over: bool = False) -> None:
        """``folder`` stores the first content of disks. With ``takes_over`` a service that has a scheduler in charge
        is stopped until ``close``."""
        self._plan = plan
        self._takes_over = takes_over
        self._content = folder / "disk.blocks"
        self._agent: Agent | None = None
        self._fingerprint: Mapping[str, Any] = {}
        self._instrument = ""
        self._tools: Mapping[str, str] = {}
        self._log: list[str] = []
        self._say: Callable[[str], None] = lambda _: None

    def prepare(self, say: Callable[[str], None]) -> None:
        self._say = say
        if any(arm.needs_sched_ext for arm in boots.list_arms(self._plan)) and not SCHED_EXT.is_dir():
            raise MissingError(
                "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT, Linux 6.12 or newer): use --on lab, "
                "or compare on a newer kernel"
            )
        for arm in self._plan.arms:
            locate_program(arm.scheduler)
        if not self._takes_over:
            _refuse_other_scheduler()
        requirements.require_programs_here(self._plan)
        if self._plan.settings.place is not None:
            require_own(Path(self._plan.settings.place))
        for each in self._measure_rooms():
            capacity.require(self._plan.loads, each)
        self._tools = tools.hash_programs(each for work in self._plan.definitions for each in work.programs)
        self._start()
        if self._plan.makes_disks:
            self._prepare_disks()

    def _measure_rooms(self) -> Iterator[capacity.Capacity]:
        """Yield the capacities of the places where loads will work."""
        plan = self._plan
        here = capacity.measure_machine(Path(plan.settings.place or SCRATCH))
        if not plan.makes_disks or any(arm.elevator is None for arm in plan.arms):
            yield here
        if plan.makes_disks:
            yield replace(here, where="arms with +io=", disk_mb=plan.disk_mb)

    def _prepare_disks(self) -> None:
        if not ublk.CONTROL.exists():
            raise MissingError(
                "arms with +io= need the driver of ublk disks (Linux 6.5 or newer): modprobe ublk_drv; "
                "or give --place DIR to switch the elevators of the disk that has DIR"
            )
        available_mb = psutil.virtual_memory().available // capacity.MEBIBYTE
        if self._plan.disk_mb > available_mb:
            raise MissingError(
                f"the disk of arms with +io= has its {self._plan.disk_mb} MiB in memory, of which {available_mb} MiB "
                "are available: choose a smaller --disk"
            )
        ext4.write_blocks(self._content, self._plan.disk_mb)

    def _start(self) -> Agent:
        if self._agent is None:
            # One that takes another's place runs with what that did: work may have changed what runs this notebook.
            words = ["--instrument", self._instrument] if self._instrument else []
            words += ["--take-over"] if self._takes_over else []
            self._agent = Agent([find_agent(), "session", *words])
            self._agent.log = self._log
            try:
                hello = self._agent.hello(CHECK_LIMIT_S)
                self._fingerprint, self._instrument = hello.fingerprint, self._instrument or hello.instrument
            except AgentLost as lost:
                raise MissingError(f"the agent cannot work here: {self._lose() or lost}") from None
        return self._agent

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        try:
            agent = self._start()
            scratch, disk = self._place_work(arm, agent)
            if disk is None and not arm.needs_sched_ext and not self._plan.has_settings(arm):
                return AcceptedArm()
            works = self._plan.list_work_settings(arm)
            scheduler = locate_program(arm.scheduler)
            request = check_request(scheduler, scratch=scratch, disk=disk, settings=arm.of_machine, works=works)
            return agent.check(request, CHECK_LIMIT_S)
        except AgentLost as lost:
            return RefusedArm(f"the agent was lost: {lost}", self._lose(), lost=True)

    def _place_work(self, arm: Arm, agent: Agent) -> tuple[str, Mapping[str, Any] | None]:
        """Return the place for the directories of an arm's work, and the agent's message for its disk."""
        plan = self._plan
        if plan.settings.place is not None:
            return plan.settings.place, disks.describe_borrowed_disk(arm.elevator)
        if arm.elevator is None:
            return SCRATCH, None
        return f"/run/{agent.name('disk')}", disks.describe_made_disk(
            arm.elevator, plan, self._content.absolute(), None
        )

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        try:
            return self._take(cell, on_phase)
        except AgentLeft:
            # The reason for its end was about the sample before.
            self._lose()
        try:
            return self._take(cell, on_phase)
        except AgentLeft as left:
            return VoidSample(f"the agent was lost: {left}", self._lose())

    def _take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        """Take one sample. Raises AgentLeft if it was not begun."""
        agent = self._start()
        plan = self._plan
        arm, work, load = plan.arms[cell.arm], plan.works[cell.work], plan.loads[cell.load]
        scratch, disk = self._place_work(arm, agent)
        request = make_sample_request(
            cell.id,
            locate_program(arm.scheduler),
            work,
            load,
            flush=plan.settings.flush,
            probes=plan.probes,
            scratch=scratch,
            disk=disk,
            settings=arm.settings,
            controllers=plan.controllers,
        )
        try:
            return agent.take(request, on_phase, silence_limit_s(work, load))
        except AgentLeft:
            raise
        except AgentLost as lost:
            return VoidSample(f"the agent was lost: {lost}", self._lose())

    def _lose(self) -> str:
        """Forget the agent and put back what it left; return its last words."""
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

    @property
    def unmixable_tables(self) -> tuple[str, ...]:
        return ("kernel",)

    def fingerprint(self) -> Mapping[str, Any]:
        return {**make_machine_tables(self._fingerprint), **boots.describe_boot(self._plan), "tools": self._tools}

    def warnings(self) -> tuple[str, ...]:
        warnings = _shorten(self._log)
        if self._fingerprint.get("hardware", {}).get("hypervisor"):
            warnings.append("this machine is a virtual one: its host may take CPU time away unseen")
        limit = cpu_limit.describe_limit(self._fingerprint.get("settings", {}).get("cpu_max"))
        if limit is not None and any(arm.needs_sched_ext for arm in self._plan.arms):
            warnings.append(limit)
        return tuple(warnings)

    def abandon(self) -> None:
        if self._agent is not None:
            self._agent.terminate()

    def close(self) -> None:
        self._content.unlink(missing_ok=True)
        if self._agent is not None:
            self._agent.close()
            self._agent = None
            # There is nothing to do unless it had to be killed or could not put something back.
            try:
                sweep()
            except RunoffError as error:
                self._say(f"still on this machine, and tried again by runoff restore: {error}")


def _shorten(log: Sequence[str]) -> list[str]:
    """Return the messages of agents, only the first ones in full."""
    more = len(log) - MOST_TOLD
    return [*log[:MOST_TOLD], *([f"{more} more messages like these came while it ran"] if more > 0 else [])]


def _refuse_other_scheduler() -> None:
    """Raise MissingError if another scheduler than the kernel's own is in charge."""
    held = find_in_charge()
    if held is None:
        return
    if held["unit"] is not None:
        raise MissingError(
            f"{held['unit']} has the scheduler {held['ops']} in charge: add --take-over, which stops it for the "
            f"campaign and starts it again at the end, or stop it: systemctl stop {held['unit']}"
        )
    who = f"process {held['pid']} ({held['program']})" if held["pid"] else "something that no process has open"
    raise MissingError(f"the scheduler {held['ops']} is in charge of this machine, by {who}: end that first")


def require_own(place: Path) -> None:
    """Raise UsageError if other users could redirect what root writes in ``place``.

    The agent does the same before each sample (crates/agent/src/disk/place.rs).
    """
    try:
        about = place.stat()
        why = find_other_writer(place, {0}, is_passed=True)
    except OSError as error:
        raise UsageError(f"--place {place}: {error.strerror}") from None
    if not stat.S_ISDIR(about.st_mode):
        raise UsageError(f"--place {place} is not a directory")
    if why is not None:
        raise UsageError(
            f"--place {place}: {why}, who could redirect what runoff writes there: name a directory of root's"
        )
