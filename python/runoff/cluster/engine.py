"""The engine whose samples are taken on a cluster; see ``runoff.engines.base.Engine``."""

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runoff.cluster import worker
from runoff.cluster.address import RemoteScheduler, is_plain, parse_address
from runoff.cluster.answers import Refusal, Unprepared
from runoff.cluster.connection import KILLED, LOST, Connection, wait_for_answer
from runoff.cluster.job import Job, make_job
from runoff.cluster.local import REAL_CLOCK
from runoff.cluster.places import Anywhere, Places, WholeBlocks
from runoff.cluster.team import Member, Team
from runoff.engine_kinds import list_having
from runoff.engines import conditions
from runoff.engines.base import OnPhase
from runoff.engines.lab.choose import make_engine_in
from runoff.engines.lab.emulator import build
from runoff.engines.lab.emulator import store as emulators
from runoff.engines.outcome import AcceptedArm, Origin, Outcome, RefusedArm, VoidSample
from runoff.errors import UsageError
from runoff.plan.arms import Arm
from runoff.plan.order import Cell
from runoff.plan.plan import Plan

FIRST_WORKER_S = 60.0
"""How long a cluster may be without a worker when a campaign begins."""
LOOK_S = 1.0
"""Time between two looks at whether a worker that has a sample is still there."""
AGAIN_S = 0.2
"""Pause before a sample is asked for again."""
MOST_LOSSES = 10
"""A sample is void after its workers died or went away this often."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is there once workers are admitted."""

    client: Any
    """The client of Dask."""
    job: Job
    team: Team
    places: Places


class _WorkersGone(Exception):
    """All workers that may have had a sample are gone."""


_ABANDONED = VoidSample("the campaign was stopped")
_LOST_TOO_OFTEN = VoidSample(f"the workers that took it died or went away, {MOST_LOSSES} times")


class ClusterEngine:
    """Prepares everything on this machine, and takes samples on others."""

    def __init__(
        self, plan: Plan, directory: Path, address: str, begun: Mapping[int, str], warm_ups: Sequence[Cell]
    ) -> None:
        """``begun`` has the machines that have begun blocks, by block; ``warm_ups`` are the plan's samples for warming
        up. Raises RunoffError for a wrong address.
        """
        if not plan.settings.engine.travels:
            raise UsageError(
                f"a cluster takes samples with {list_having('travels')}: run with --on {plan.settings.on} on each "
                "machine, then merge them",
                hint=("merge", "DIR", "DIR"),
            )
        self._plan = plan
        self._address = parse_address(address)
        self._begun = begun
        self._warm_ups = warm_ups
        self._warm: set[str] = set()
        self._has_begun = False
        self.whole_blocks = plan.clock == "real"
        self._directory = directory
        self._folder = directory / "guests"
        self._local = make_engine_in(plan, self._folder)
        self._connection: Connection | None = None
        self._prepared: _Prepared | None = None
        self._fingerprint: Mapping[str, Any] = {}
        self._tables: dict[str, Mapping[str, Any]] = {}
        """The last fingerprint of each machine."""
        self._abandoned = threading.Event()
        self._lock = threading.Lock()

    @property
    def slots(self) -> int:
        return self._prepared.places.slots if self._prepared is not None else 1

    @property
    def unmixable_tables(self) -> tuple[str, ...]:
        return self._local.unmixable_tables

    def prepare(self, say: Callable[[str], None]) -> None:
        if self._plan.clock == "virtual" and emulators.find_current() is None:
            # Its guests can be copied to workers, and those of other QEMUs cannot.
            build.ensure(say)
        self._connection = Connection(self._address, self._folder / "dask", real_clock=self.whole_blocks)
        self._local.prepare(say)
        job = make_job(uuid.uuid4().hex, self._plan, self._local.supplies, self._local.list_snapshots())
        team = Team(self._connection, job, say, one_each=self.whole_blocks)
        places = self._choose_places(team)
        self._prepared = _Prepared(self._connection.client, job, team, places)
        if isinstance(self._address, RemoteScheduler) and is_plain(self._address.address):
            say(
                f"{self._address.address} is without TLS: every user of this machine can run programs as you, here and "
                "on its workers, as long as it is there"
            )
        if self._connection.dashboard:
            say(f"what each worker does: {self._connection.dashboard}")
        way_on = "start one (docs/cluster.md), then give this command again"
        team.wait_for(team.list_ready, lambda: False, "the cluster has no worker", way_on, FIRST_WORKER_S)

    def _choose_places(self, team: Team) -> Places:
        if self.whole_blocks:
            return WholeBlocks(team, self._directory, self._begun)
        return Anywhere(team, self._directory)

    @property
    def _found(self) -> _Prepared:
        assert self._prepared is not None
        return self._prepared

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        return self._local.check(arm)

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        self._end_own_guests()
        losses = 0
        losers: list[Member] = []
        while not self._abandoned.is_set() and losses < MOST_LOSSES:
            with self._found.places.hold(cell, self._abandoned.is_set) as members:
                try:
                    is_warm = self._warm_up(cell, members, on_phase)
                    outcome = self._ask(cell, members, on_phase) if is_warm else None
                except (KILLED, _WorkersGone):
                    outcome, losses, losers = None, losses + 1, members
                if outcome is not None:
                    self._found.places.begin(cell.block, members)
            if outcome is not None:
                return outcome
            self._abandoned.wait(AGAIN_S)
        if losses < MOST_LOSSES:
            return _ABANDONED
        self._found.places.begin(cell.block, losers)
        return replace(_LOST_TOO_OFTEN, origin=self._describe_origin(losers[0]))

    def _describe_origin(self, member: Member) -> Origin | None:
        """Return where a sample was lost; None under the virtual clock, where it is of no machine."""
        if not self.whole_blocks:
            return None
        tables = self._tables.get(member.owner, {})
        return Origin(member.hostname, member.machine, conditions.read_conditions(), tables, member.name)

    def _end_own_guests(self) -> None:
        """End what tried the arms: under the real clock it would disturb a worker of this machine."""
        with self._lock:
            if self.whole_blocks and not self._has_begun:
                self._local.close()
            self._has_begun = True

    def _warm_up(self, cell: Cell, members: Sequence[Member], on_phase: OnPhase) -> bool:
        """Take the plan's samples for warming up on a machine that has not, before the first that counts.

        Returns False if one has to be asked for again.
        """
        if cell.block < 0 and cell != self._warm_ups[0]:
            # A machine that goes on with what another has begun is not warm by that.
            return True
        cold = {member.owner for member in members if self.whole_blocks} - self._warm
        if cold and cell.block >= 0:
            for each in self._warm_ups:
                if self._ask(each, members, on_phase) is None:
                    return False
        self._warm |= cold
        return True

    def _ask(self, cell: Cell, members: Sequence[Member], on_phase: OnPhase) -> Outcome | None:
        """Return a sample of one of these workers; None if it has to be asked for again.

        Raises _WorkersGone or ``KILLED`` if workers ended while they had it.
        """
        addresses = [member.address for member in members]
        if not addresses:
            return None
        # Dask keeps a record of each beginning of keys that it has seen, so all have the same.
        key = f"take-{uuid.uuid4().hex}"
        resources = {REAL_CLOCK: 1} if self.whole_blocks else None
        try:
            future = self._found.client.submit(
                worker.take, self._found.job.name, cell, key=key, workers=addresses, resources=resources, pure=False
            )
            answer = self._await(future, addresses, on_phase)
        except LOST:
            return None
        match answer:
            case Refusal():
                self._found.team.exclude(answer.worker, answer.reason)
                return None
            case Unprepared():
                self._found.team.forget(answer.worker)
                return None
            case None:
                return None
        return self._accept(answer, members)

    def _accept(self, outcome: Outcome, members: Sequence[Member]) -> Outcome | None:
        """Return a sample; None, and no more samples for its worker, if it was taken with something else than others.

        Under the real clock machines may differ, and the campaign tells them apart.
        """
        if outcome.origin is None:
            return outcome
        tables = outcome.origin.fingerprint
        self._fingerprint = self._fingerprint or tables
        self._tables[outcome.origin.machine or outcome.origin.hostname] = tables
        names = () if self.whole_blocks else self.unmixable_tables
        others = [name for name in names if tables.get(name) != self._fingerprint.get(name)]
        if not others:
            return outcome
        for member in members:
            if member.name == outcome.origin.worker:
                self._found.team.exclude(
                    member.address, f"not the same as for earlier samples: its {', its '.join(others)}"
                )
        return None

    def _await(self, future: Any, addresses: Sequence[str], on_phase: OnPhase) -> Outcome | Refusal | Unprepared | None:
        """Return the worker's answer; None if the campaign is stopped. Raises _WorkersGone."""
        while not self._abandoned.is_set():
            if not self._found.team.is_there(addresses):
                future.cancel()
                raise _WorkersGone
            try:
                answer: Outcome | Refusal | Unprepared = wait_for_answer(future, LOOK_S)
                return answer
            except TimeoutError:
                if name := self._found.team.find_worker(future.key):
                    on_phase(f"run on {name}")
        future.cancel()
        return None

    def fingerprint(self) -> Mapping[str, Any]:
        return self._fingerprint or self._local.fingerprint()

    def warnings(self) -> tuple[str, ...]:
        return self._local.warnings()

    def abandon(self) -> None:
        self._abandoned.set()
        if self._prepared is None:
            return
        ready = [member.address for member in self._prepared.team.list_ready()]
        with suppress(*LOST):
            self._prepared.client.run(
                worker.abandon, self._prepared.job.name, workers=ready, on_error="ignore", wait=False
            )

    def close(self) -> None:
        self._abandoned.set()
        if self._prepared is not None:
            self._prepared.team.close(self._prepared.job.name)
        self._local.close()
        if self._connection is not None:
            self._connection.close()
