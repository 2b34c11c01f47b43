"""The workers of a cluster as one campaign sees them: admitted when they appear, and given all that a sample needs."""

import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from runoff.cluster import worker
from runoff.cluster.address import require_safe
from runoff.cluster.answers import About, Refusal
from runoff.cluster.connection import LOST, PATIENCE_S, Connection, wait_for_answer
from runoff.cluster.job import Job
from runoff.cluster.local import REAL_CLOCK
from runoff.cluster.parcels import Parcel, read_messages
from runoff.errors import MissingError, RunoffError

LOOK_S = 1.0
"""Time between two looks at which workers there are."""
ANSWER_S = 600.0
"""For one step of admitting a worker: a kernel is hashed, or a guest booted. Samples of others do not count."""
CLOSE_S = 20.0
ADMITTED_AT_ONCE = 128
"""Each has a thread, which mostly waits; one that hangs keeps no other from being admitted."""
TURN_S = 60.0
"""How long a worker waits for another of its machine to receive what both need."""
TAKEN = "taking samples of another campaign"
SILENCE_S = 15.0
"""How long the campaign waits for workers before it says what for."""


class NotAdmitted(Exception):
    """A worker cannot take samples of this campaign, and why."""


@dataclass(slots=True)
class Member:
    """A worker that is there."""

    address: str
    slots: int
    """Samples at a time."""
    hostname: str = ""
    machine: str = ""
    identity: str = ""
    """What Dask calls the process: another one may have the same address later."""
    step: str = "answering"
    """What it does to be admitted."""
    is_taken: bool = False
    """Whether it does something for another campaign first."""
    is_ready: bool = False
    refusal: str = ""

    @property
    def name(self) -> str:
        return f"{self.hostname} ({self.address.rpartition('/')[2]})" if self.hostname else self.address

    @property
    def owner(self) -> str:
        """What its machine is known by."""
        return self.machine or self.hostname


@dataclass(slots=True)
class _State:
    """What threads share."""

    members: dict[str, Member] = field(default_factory=dict)
    processing: Mapping[str, str] = field(default_factory=dict)
    """Addresses of workers by the keys of the tasks that they have."""


class Team:
    """Admits workers in threads of its own, until it is closed."""

    def __init__(self, connection: Connection, job: Job, say: Callable[[str], None], *, one_each: bool) -> None:
        """``one_each``: a machine takes one sample at a time."""
        self._connection = connection
        self._job = job
        self._say = say
        self._one_each = one_each
        self._state = _State()
        # Reentrant: what is looked for under it is listed under it.
        self._changed = threading.Condition()
        self._machines: dict[str, threading.Lock] = {}
        self._closed = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=ADMITTED_AT_ONCE)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def list_ready(self) -> list[Member]:
        """Return the workers that can take samples now."""
        with self._changed:
            return [member for member in self._state.members.values() if member.is_ready]

    def is_there(self, addresses: Sequence[str]) -> bool:
        """Return whether one of these workers still is ready."""
        return any(member.address in addresses for member in self.list_ready())

    def find_worker(self, key: str) -> str:
        """Return the name of the worker that had the task ``key`` at the last look; empty if none had."""
        with self._changed:
            member = self._state.members.get(self._state.processing.get(key, ""))
            return member.name if member is not None else ""

    def wait_for(
        self,
        find: Callable[[], list[Member]],
        is_over: Callable[[], bool],
        missing: str,
        way_on: str,
        patience_s: float = PATIENCE_S,
    ) -> list[Member]:
        """Return what ``find`` finds, which is called while nothing changes; nothing if it ``is_over`` before.

        Raises MissingError if all workers are refused, or with ``missing`` and ``way_on`` if nothing is found in
        ``patience_s``.
        """
        since_s = told_s = time.monotonic()
        with self._changed:
            while not is_over():
                if found := find():
                    return found
                members = self._state.members.values()
                refused = [f"{member.name}: {member.refusal}" for member in members if member.refusal]
                if refused and len(refused) == len(members):
                    raise MissingError("no worker of the cluster can take samples: " + "; ".join(refused))
                is_coming = any(not member.is_ready and not member.refusal for member in members)
                if time.monotonic() - since_s > patience_s and not is_coming:
                    raise MissingError(f"{missing}: {way_on}")
                if time.monotonic() - told_s > SILENCE_S:
                    told_s = time.monotonic()
                    self._say(self._describe_wait(missing))
                self._changed.wait(LOOK_S)
        return []

    def _describe_wait(self, missing: str) -> str:
        coming = [each for each in self._state.members.values() if not each.is_ready and not each.refusal]
        steps = "; ".join(f"{each.name} is {TAKEN if each.is_taken else each.step}" for each in coming)
        return f"waiting: {steps}" if steps else f"waiting: {missing}"

    def exclude(self, address: str, reason: str) -> None:
        """Give this worker nothing more."""
        with self._changed:
            member = self._state.members.get(address)
        if member is not None:
            self._refuse(member, reason)

    def _refuse(self, member: Member, reason: str) -> None:
        with self._changed:
            if member.refusal or not self._is_there(member):
                return
            member.is_ready, member.refusal = False, reason
            self._changed.notify_all()
        self._say(f"the worker {member.name} gets no more samples: {reason}")

    def forget(self, address: str) -> None:
        """Admit this worker anew, if it is still there."""
        with self._changed:
            self._state.members.pop(address, None)

    def close(self, job: str) -> None:
        """End its threads, and let ready workers put everything back of ``job``."""
        self._closed.set()
        with suppress(*LOST):
            closing = [
                self._connection.client.submit(worker.close_job, job, workers=[member.address], pure=False)
                for member in self.list_ready()
            ]
            for future in closing:
                wait_for_answer(future, CLOSE_S)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._watcher.join(5 * LOOK_S)

    def _watch(self) -> None:
        while not self._closed.wait(LOOK_S if self._state.members else 0.1):
            try:
                listed = dict(self._connection.client.scheduler_info()["workers"])
                processing = dict(self._connection.client.processing())
            except Exception:
                # Dask connects again; until then nobody is there.
                listed, processing = {}, {}
            self._update(listed, processing)

    def _update(self, listed: Mapping[str, Mapping[str, Any]], processing: Mapping[str, list[str]]) -> None:
        with self._changed:
            members = self._state.members
            gone = [each for address, each in members.items() if each.identity != _identify(listed.get(address, {}))]
            for member in gone:
                del members[member.address]
            new = [address for address in listed if address not in members]
            for address in new:
                about = listed[address]
                members[address] = Member(address, int(about["nthreads"]), identity=_identify(about))
            self._state.processing = {str(key): address for address, keys in processing.items() for key in keys}
            self._changed.notify_all()
        for member in gone:
            if not member.refusal:
                self._say(f"the worker {member.name} is gone")
        for address in new:
            self._pool.submit(self._admit, members[address], listed[address].get("resources", {}))

    def _admit(self, member: Member, resources: Mapping[str, float]) -> None:
        try:
            self._prepare(member, resources)
        except NotAdmitted as error:
            self._refuse(member, str(error))
        except RunoffError as error:
            self._refuse(member, error.describe())
        except LOST:
            # It is gone, or the scheduler is: if it comes back, it is new.
            if self._is_there(member):
                self.forget(member.address)
        except Exception as error:
            # Dask raises here what it cannot read on the worker, such as a package that is missing there.
            self._refuse(member, f"{type(error).__name__}: {error}")

    def _prepare(self, member: Member, resources: Mapping[str, float]) -> None:
        require_safe(str(self._connection.client.scheduler.address))
        _require_same_versions(self._ask(member, worker.list_versions))
        # A second thread would admit it to another campaign, and boot guests, while it takes a sample.
        if self._one_each and (resources.get(REAL_CLOCK) != 1 or member.slots != 1):
            raise NotAdmitted(f"start it with --nthreads 1 --resources {REAL_CLOCK}=1, for one thing at a time")
        about: About = self._ask(member, worker.meet, self._job)
        with self._changed:
            member.hostname, member.machine = about.hostname, about.machine
            lock = self._machines.setdefault(member.owner, threading.Lock())
        # Workers of one machine share its cache: what one receives the next has. One that hangs is not waited for.
        member.step = "waiting for another worker of its machine"
        is_alone = lock.acquire(timeout=TURN_S)
        try:
            self._make_ready(member)
        finally:
            if is_alone:
                lock.release()
        self._say(f"the worker {member.name} has joined")

    def _make_ready(self, member: Member) -> None:
        """Send what the machine of this worker does not have, and let it prepare."""
        self._require_no_other(member)
        member.step = "looking for what it has"
        lacking = self._ask(member, worker.list_lacking, self._job)
        for parcel in self._job.parcels:
            if parcel.digest in lacking:
                self._send(member, parcel)
        member.step = "preparing its guests"
        self._ask(member, worker.open_job, self._job)
        try:
            with self._changed:
                # The other one may have become ready since, if this one has waited for it in vain.
                self._require_no_other(member)
                member.is_ready = True
                self._changed.notify_all()
        except NotAdmitted:
            self._ask(member, worker.close_job, self._job.name)
            raise

    def _require_no_other(self, member: Member) -> None:
        """Raise NotAdmitted if a machine may have one worker, and this one's has another."""
        if self._one_each and any(other.owner == member.owner for other in self.list_ready()):
            raise NotAdmitted("another worker takes the samples of its machine")

    def _send(self, member: Member, parcel: Parcel) -> None:
        self._say(f"sending {parcel.name} to {member.name}")
        member.step = f"receiving {parcel.name}"
        # Two workers of one machine may receive the same.
        sender = f"{self._job.name}-{uuid.uuid4().hex[:8]}"
        self._ask(member, worker.begin_parcel, parcel, sender)
        for chunks in read_messages(parcel):
            self._ask(member, worker.receive, parcel, sender, chunks)
        self._ask(member, worker.finish_parcel, parcel, sender, self._job.name)

    def _ask(self, member: Member, function: Callable[..., Any], *args: Any) -> Any:
        """Return the answer of one worker, which is given up when it is gone. Raises NotAdmitted, or one of LOST."""
        future = self._connection.client.submit(function, *args, workers=[member.address], pure=False)
        until_s = time.monotonic() + ANSWER_S
        while True:
            if self._closed.is_set():
                future.cancel()
                raise NotAdmitted("the campaign has ended")
            try:
                answer = wait_for_answer(future, LOOK_S)
                member.is_taken = False
                break
            except TimeoutError:
                # Dask keeps a task for a worker that is gone, in case it comes back.
                if not self._is_there(member):
                    future.cancel()
                    raise ConnectionResetError(f"{member.name} is gone") from None
                member.is_taken = self._is_full(member, str(future.key))
                if member.is_taken:
                    until_s = time.monotonic() + ANSWER_S
                elif time.monotonic() > until_s:
                    future.cancel()
                    raise NotAdmitted(f"no answer in {ANSWER_S:.0f} s while it was {member.step}") from None
        if isinstance(answer, Refusal):
            raise NotAdmitted(answer.reason)
        return answer

    def _is_full(self, member: Member, key: str) -> bool:
        """Return whether at the last look the one of ``key`` waits for other tasks of this worker."""
        with self._changed:
            processing = self._state.processing.items()
            others = sum(address == member.address and other != key for other, address in processing)
        return others >= member.slots

    def _is_there(self, member: Member) -> bool:
        """Return whether Dask still had this very worker at the last look."""
        with self._changed:
            return self._state.members.get(member.address) is member


def _identify(about: Mapping[str, Any]) -> str:
    """Return what tells a worker's process from a later one at the same address: its directory; empty for none."""
    return str(about.get("local_directory", ""))


def _require_same_versions(greeting: Mapping[str, str]) -> None:
    ours = worker.list_versions()
    for what, version in ours.items():
        if greeting.get(what) != version:
            raise NotAdmitted(f"it has {what} {greeting.get(what, 'of an unknown version')}, and here is {version}")
