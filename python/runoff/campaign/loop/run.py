"""The campaign's loop: next cell, engine, journal, until all is done or the user says stop."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from runoff.campaign.journal import requests
from runoff.campaign.journal.journal import Journal
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.hopeless import Doubt
from runoff.campaign.loop.observer import Observer
from runoff.campaign.loop.queue import WaitingCells, choose_edges
from runoff.campaign.loop.stop import Stop, StopRequest, handle_signals
from runoff.campaign.origin.arms import Arms, check_arms, void_if_another
from runoff.campaign.origin.parts import Parts
from runoff.decide.looks import Look, Rule
from runoff.engines import boots, conditions
from runoff.engines.base import Engine
from runoff.engines.outcome import Outcome, ValidSample, VoidSample
from runoff.errors import RunoffError
from runoff.plan import stopping
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.results import Conditions, Ended

MOST_SLOTS = 256
"""Most samples that a cluster takes at a time for one campaign: each has a thread that waits for it."""


def run(
    plan: Plan,
    journal: Journal,
    engine: Engine,
    observer: Observer,
    execution: Execution,
    rule: Rule | None = None,
) -> Ending:
    """Take every sample that the journal lacks.

    A ``rule`` (plans with ``until``) is asked after each block whether more are needed. Where the first block is void
    throughout for one reason no more samples are taken, unless the campaign is to keep going.

    The first Ctrl-C (or SIGTERM) lets running samples finish, the second discards them; whatever was finished stays in
    the journal either way. Raises RunoffError when it cannot begin, or an engine fails.
    """
    if journal.fact("ended") is not None:
        return Ending.COMPLETE
    done = journal.done()
    pending = [cell for cell in plan.cells if cell.id not in done]
    if not pending and rule is None:
        return Ending.COMPLETE
    if pending and not boots.runs_here(plan, plan.arms[pending[0].arm]):
        return Ending.OTHER_KERNEL
    doubt = None if execution.keep_going else Doubt(_size_of_first_block(plan))
    with _prepare(plan, engine, observer) as arms, handle_signals() as request:
        parts = Parts(plan, journal, engine, arms)
        slots = _Slots(engine, execution)
        waiting = _make_waiting(plan, pending, slots.at_present, _record_looks(journal, observer, rule))
        is_hopeless = _Run(plan, journal, engine, observer, arms, parts).take_all(waiting, request, doubt, slots)
    if waiting.ended or len(journal.done()) == plan.planned:
        return Ending.COMPLETE
    if waiting.is_blocked:
        return Ending.OTHER_KERNEL
    return Ending.HOPELESS if is_hopeless else Ending.STOPPED


@dataclass(frozen=True, slots=True)
class _Slots:
    """How many samples are taken at a time."""

    engine: Engine
    execution: Execution

    @property
    def at_present(self) -> int:
        """The workers of a cluster come and go."""
        return self.execution.jobs if self.execution.cluster is None else min(self.engine.slots, MOST_SLOTS)

    @property
    def at_most(self) -> int:
        return self.execution.jobs if self.execution.cluster is None else MOST_SLOTS


def _size_of_first_block(plan: Plan) -> int:
    cells = plan.cells
    return sum(cell.block == cells[0].block for cell in cells)


def _make_waiting(plan: Plan, pending: Sequence[Cell], jobs: int, look: Rule | None) -> WaitingCells:
    if look is None:
        return WaitingCells(pending, may_take=lambda cell: boots.runs_here(plan, plan.arms[cell.arm]))
    # Blocks that are smaller than the number of samples side by side are taken several at a time.
    cells = len(plan.arms) * len(plan.works) * len(plan.loads)
    most = stopping.find_most_blocks(plan.settings)
    return WaitingCells(
        pending, look=look, edges=choose_edges(stopping.find_first_look(plan.settings), most, math.ceil(jobs / cells))
    )


def _record_looks(journal: Journal, observer: Observer, rule: Rule | None) -> Rule | None:
    """Show each look of ``rule``, and write into the journal how the last one ended the campaign."""
    if rule is None:
        return None

    def look_and_record(blocks: int) -> Look:
        look = rule(blocks)
        observer.looked(look)
        if look.ends is not None:
            ended = Ended(blocks, look.ends, look.decided)
            journal.set_fact("ended", asdict(ended))
        return look

    return look_and_record


@contextmanager
def _prepare(plan: Plan, engine: Engine, observer: Observer) -> Iterator[Arms]:
    try:
        engine.prepare(observer.say)
        yield check_arms(plan, engine)
    finally:
        engine.close()


@contextmanager
def _abandon_on_error(engine: Engine) -> Iterator[None]:
    """End the running samples where the block fails: nobody stores them, and while they are waited for no signal is
    heeded."""
    try:
        yield
    except BaseException:
        engine.abandon()
        raise


@dataclass(frozen=True, slots=True)
class _RunningSample:
    """A sample that is being taken."""

    cell: Cell
    conditions: Conditions
    at_s: float


class _Run:
    """The samples of one session; only the thread that calls it writes into the journal."""

    def __init__(
        self, plan: Plan, journal: Journal, engine: Engine, observer: Observer, arms: Arms, parts: Parts
    ) -> None:
        self._plan = plan
        self._journal = journal
        self._engine = engine
        self._observer = observer
        self._arms = arms
        self._parts = parts
        self._failure: RunoffError | None = None

    def take_all(self, waiting: WaitingCells, request: StopRequest, doubt: Doubt | None, slots: _Slots) -> bool:
        """Take what is waiting, as many at once as there are ``slots``. Returns whether ``doubt`` found that it is
        hopeless. Raises RunoffError if the engine fails, after the samples that run."""
        running: dict[Future[Outcome], _RunningSample] = {}
        with ThreadPoolExecutor(max_workers=slots.at_most) as pool, _abandon_on_error(self._engine):
            while True:
                reason = doubt.find_reason(self._journal) if doubt is not None else None
                while self._may_start(request, reason) and len(running) < slots.at_present:
                    self._journal.require_in_place()
                    cell = waiting.next(idle=not running, busy=self._list_busy(running))
                    if cell is None:
                        break
                    started = self._start(cell)
                    running[pool.submit(self._take, cell)] = started
                if not running:
                    break
                request.heed(self._engine, self._observer)
                # Short waits: what a signal asks for is heeded between them.
                for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done:
                    self._finish(running.pop(future), future, request)
        if self._failure is not None:
            raise self._failure
        if reason is not None:
            self._observer.gave_up(reason)
        return reason is not None

    def _may_start(self, request: StopRequest, reason: str | None) -> bool:
        return request.stop is Stop.NO and reason is None and self._failure is None

    def _list_busy(self, running: Mapping[Future[Outcome], _RunningSample]) -> set[int]:
        """Return the blocks of which no sample may be started now."""
        return {started.cell.block for started in running.values()} if self._engine.whole_blocks else set()

    def _start(self, cell: Cell) -> _RunningSample:
        self._observer.started(cell)
        return _RunningSample(cell, conditions.read_conditions(), time.monotonic())

    def _take(self, cell: Cell) -> Outcome:
        return self._engine.take(cell, lambda phase: self._observer.phase(cell, phase))

    def _finish(self, started: _RunningSample, future: Future[Outcome], request: StopRequest) -> None:
        """Store what was taken, or remember why the engine failed."""
        seconds = time.monotonic() - started.at_s
        try:
            outcome = future.result()
        except RunoffError as error:
            self._failure = self._failure or error
            return
        # A shutdown may tell the agent too: what it cut is taken again.
        is_cut = isinstance(outcome, VoidSample) and outcome.stopped and request.stop is not Stop.NO
        if request.stop is not Stop.NOW and not is_cut:
            self._store(started, outcome, seconds)

    def _store(self, started: _RunningSample, outcome: Outcome, seconds: float) -> None:
        plan, journal, cell = self._plan, self._journal, started.cell
        labels = plan.find_labels(cell)
        outcome = void_if_another(outcome, self._arms[labels[0]])
        part = self._parts.record(outcome.origin)
        journal.set_fact("warnings", list(self._engine.warnings()))
        log = outcome.requests if isinstance(outcome, ValidSample) else ""
        journal.add(
            cell,
            *labels,
            outcome,
            outcome.origin.conditions if outcome.origin is not None else started.conditions,
            seconds=seconds,
            part=part,
            requests_sha256=requests.store_log(journal.folder, cell.id, log) if log else None,
        )
        self._observer.finished(cell, outcome)
