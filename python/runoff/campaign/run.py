"""The campaign's loop: next cell, engine, journal, until all is done or the user says stop."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType
from typing import Protocol

from runoff.arms import Arm
from runoff.campaign import conditions, requests
from runoff.campaign.journal import Journal
from runoff.campaign.order import Cell, draw
from runoff.engines.base import Engine
from runoff.engines.outcome import Accepted, Outcome, Refused, Taken
from runoff.errors import UsageError, error_for
from runoff.plan import Plan
from runoff.results import Conditions


class Observer(Protocol):
    """Is told what happens, to show it."""

    def say(self, text: str) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def phase(self, cell: Cell, phase: str) -> None: ...

    def finished(self, cell: Cell, outcome: Outcome) -> None: ...

    def stopping(self, now: bool) -> None: ...


class Stop(IntEnum):
    """How much the user wants it to end."""

    NO = 0
    AFTER_SAMPLE = 1
    NOW = 2


@dataclass(slots=True)
class _Wish:
    stop: Stop = Stop.NO


def order(plan: Plan) -> list[Cell]:
    """The plan's cells in run order."""
    settings = plan.settings
    return list(draw(len(plan.arms), len(plan.works), plan.load_blocks, settings.seed, warmup=settings.warmup))


def run(plan: Plan, journal: Journal, engine: Engine, observer: Observer, jobs: int = 1) -> bool:
    """Take every sample that the journal lacks; True when all are there.

    The first Ctrl-C (or SIGTERM) lets running samples finish, the second discards them; whatever
    was finished stays in the journal either way. Raises RunoffError when it cannot begin.
    """
    if jobs > 1 and not engine.parallel:
        raise UsageError("samples side by side would disturb each other: -j needs --on lab --clock virtual")
    done = journal.done()
    pending = [cell for cell in order(plan) if cell.id not in done]
    if not pending:
        return True
    with _prepared(plan, journal, engine, observer), _wishes(engine, observer) as wish:
        _take_all(plan, journal, engine, observer, iter(pending), wish, jobs)
    return len(journal.done()) == plan.planned


@contextmanager
def _prepared(plan: Plan, journal: Journal, engine: Engine, observer: Observer) -> Iterator[None]:
    try:
        engine.prepare(observer.say)
        journal.set_fact("arms", {arm.label: _facts(engine, arm) for arm in plan.arms})
        yield
    finally:
        engine.close()


def _facts(engine: Engine, arm: Arm) -> dict[str, str]:
    """What the arm's scheduler is, and its elevator if it has one."""
    found = _check(engine, arm)
    scheduler = found.ops if arm.needs_sched_ext else "the kernel's own"
    facts = {"scheduler": scheduler, "object_sha256": found.object, "kernel": arm.kernel or ""}
    if found.disks:
        facts["elevator"] = ", ".join(f"{disk['elevator']} on {disk['name']}" for disk in found.disks)
        facts["disk"] = "; ".join(f"{disk['name']}: {disk['about']}" for disk in found.disks)
    elif arm.elevator is not None:
        facts["elevator"] = arm.elevator.name
    if arm.elevator is not None:
        facts["whose a request is"] = arm.elevator.identity
    return facts


def _check(engine: Engine, arm: Arm) -> Accepted:
    """Tries it once: a long run shall not end at its first sample."""
    answer = engine.check(arm)
    if isinstance(answer, Refused) and answer.lost:
        answer = engine.check(arm)
    if isinstance(answer, Accepted):
        return answer
    text = f"arm {arm.label!r} cannot be used: {answer.reason}"
    if answer.detail:
        text += f"\n{answer.detail}"
    if arm.scheduler["kind"] == "object":
        raise UsageError(text)
    raise error_for(answer.exit_code)(text)


def _take_all(
    plan: Plan,
    journal: Journal,
    engine: Engine,
    observer: Observer,
    pending: Iterator[Cell],
    wish: _Wish,
    jobs: int,
) -> None:
    running: dict[Future[Outcome], tuple[Cell, Conditions]] = {}
    earlier = journal.fact("fingerprints", [])
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        while True:
            while len(running) < jobs and wish.stop is Stop.NO:
                cell = next(pending, None)
                if cell is None:
                    break
                observer.started(cell)
                began = conditions.now()
                running[pool.submit(engine.take, cell, _phases(observer, cell))] = cell, began
            if not running:
                return
            # Short waits: Python runs signal handlers between them.
            for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done:
                cell, began = running.pop(future)
                outcome = future.result()
                if wish.stop is Stop.NOW:
                    continue
                journal.set_fact("fingerprints", [*earlier, dict(engine.fingerprint())])
                journal.set_fact("warnings", list(engine.warnings()))
                arm, work, load = plan.arms[cell.arm].label, plan.works[cell.work].label, plan.load_labels[cell.load]
                if isinstance(outcome, Taken) and outcome.requests:
                    requests.keep(journal.directory, cell.id, outcome.requests)
                journal.add(cell, arm, work, load, outcome, began)
                observer.finished(cell, outcome)


def _phases(observer: Observer, cell: Cell) -> Callable[[str], None]:
    return lambda phase: observer.phase(cell, phase)


@contextmanager
def _wishes(engine: Engine, observer: Observer) -> Iterator[_Wish]:
    """Turns signals into wishes while the loop runs."""
    wish = _Wish()

    def handle(_number: int, _frame: FrameType | None) -> None:
        if wish.stop is Stop.NO:
            wish.stop = Stop.AFTER_SAMPLE
            observer.stopping(now=False)
        elif wish.stop is Stop.AFTER_SAMPLE:
            wish.stop = Stop.NOW
            observer.stopping(now=True)
            # Ending a guest takes a moment; a handler must not.
            threading.Thread(target=engine.abandon, daemon=True).start()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
