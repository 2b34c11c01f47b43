"""The host engine: samples on this machine's kernel, one after the other, as root."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import which
from typing import Any

from runoff.arms import Arm
from runoff.campaign.order import Cell
from runoff.engines import room
from runoff.engines.agent import Agent, AgentLost, check_request, find_agent, sample_request
from runoff.engines.base import OnPhase
from runoff.engines.outcome import Accepted, Outcome, Refused, Voided
from runoff.errors import MissingError
from runoff.plan import Plan
from runoff.workloads import Work

SCHED_EXT = Path("/sys/kernel/sched_ext")

SCRATCH = Path("/tmp")
"""Below this workloads and loads have their directories (crates/agent/src/protocol.rs)."""

CHECK_LIMIT_S = 60.0
MARGIN_S = 60.0
"""What attaching, detaching and cleaning up may take beyond a command's own time-out."""


class HostEngine:
    """See ``Engine``."""

    parallel = False

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
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
        room.require(self._plan.loads, room.here(SCRATCH))
        self._start()

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
            return self._start().check(check_request(arm.scheduler), CHECK_LIMIT_S)
        except AgentLost as lost:
            return Refused(f"the agent was lost: {lost}", self._lose(), lost=True)

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        agent = self._start()
        work, load = self._plan.works[cell.work], self._plan.loads[cell.load]
        plan = self._plan
        scheduler = plan.arms[cell.arm].scheduler
        request = sample_request(cell.id, scheduler, work, load, flush=plan.settings.flush, probes=plan.probes)
        try:
            return agent.take(request, on_phase, silence_limit_s(work, load))
        except AgentLost as lost:
            return Voided(f"the agent was lost: {lost}", self._lose())

    def _lose(self) -> str:
        """Forget the agent; its last words."""
        if self._agent is None:
            return ""
        words = self._agent.last_words()
        self._agent.kill()
        self._agent = None
        return words

    def fingerprint(self) -> Mapping[str, Any]:
        return machine_tables(self._fingerprint)

    def warnings(self) -> tuple[str, ...]:
        hardware = self._fingerprint.get("hardware", {})
        if hardware.get("hypervisor"):
            return ("this machine is a virtual one: its host may take CPU time away unseen",)
        return ()

    def abandon(self) -> None:
        if self._agent is not None:
            self._agent.terminate()

    def close(self) -> None:
        if self._agent is not None:
            self._agent.close()
            self._agent = None


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
