"""The campaign's loop: next cell, engine, journal, until all is done or the user says stop."""

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import IntEnum
from types import FrameType

from runoff.campaign import conditions, programs, requests, sessions
from runoff.campaign.ending import Ending
from runoff.campaign.hopeless import Doubt
from runoff.campaign.journal import Journal
from runoff.campaign.observer import Observer
from runoff.campaign.records import Part
from runoff.campaign.waiting import Waiting, edges
from runoff.decide.looks import Look, Rule
from runoff.engines.base import Engine
from runoff.engines.outcome import Accepted, Outcome, Refused, Taken, Voided
from runoff.errors import UsageError, error_for
from runoff.plan import stopping
from runoff.plan.arms import Arm
from runoff.plan.order import Cell, draw
from runoff.plan.plan import Plan
from runoff.results import Conditions, Ended
from runoff.version import __version__

Arms = dict[str, dict[str, str]]
"""By label: what is in charge of an arm."""


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
    twins = {number: plan.twins[arm.label] for number, arm in enumerate(plan.arms) if arm.label in plan.twins}
    arms, works = len(plan.arms), len(plan.works)
    return list(draw(arms, works, plan.load_blocks, plan.seed, warmup=plan.settings.warmup, twins=twins))


def run(
    plan: Plan,
    journal: Journal,
    engine: Engine,
    observer: Observer,
    jobs: int = 1,
    rule: Rule | None = None,
    *,
    keep_going: bool = False,
) -> Ending:
    """Take every sample that the journal lacks.

    With a ``rule`` (plans with ``until``) it is asked after each block whether more are needed. Where the first block
    is void throughout for one reason no more is taken, unless it is to ``keep_going``.

    The first Ctrl-C (or SIGTERM) lets running samples finish, the second discards them; whatever
    was finished stays in the journal either way. Raises RunoffError when it cannot begin.
    """
    if jobs > 1 and not engine.parallel:
        raise UsageError("samples side by side would disturb each other: -j needs --on lab --clock virtual")
    if journal.fact("ended") is not None:
        return Ending.COMPLETE
    done = journal.done()
    pending = [cell for cell in order(plan) if cell.id not in done]
    if not pending and rule is None:
        return Ending.COMPLETE
    waiting = _waiting(plan, pending, jobs, _noted(journal, observer, rule))
    with _prepared(plan, journal, engine, observer) as arms, _wishes(engine, observer) as wish:
        doubt = None if keep_going else Doubt(_size_of_first_block(plan))
        is_hopeless = _take_all(plan, journal, engine, observer, waiting, arms, wish, jobs, doubt)
    if waiting.ended or len(journal.done()) == plan.planned:
        return Ending.COMPLETE
    return Ending.HOPELESS if is_hopeless else Ending.STOPPED


def _size_of_first_block(plan: Plan) -> int:
    cells = order(plan)
    return sum(cell.block == cells[0].block for cell in cells)


def _waiting(plan: Plan, pending: Sequence[Cell], jobs: int, look: Rule | None) -> Waiting:
    if look is None:
        return Waiting(pending)
    # Blocks that are smaller than the number of samples side by side are taken several at a time.
    cells = len(plan.arms) * len(plan.works) * len(plan.loads)
    most = stopping.most(plan.settings)
    return Waiting(pending, look=look, edges=edges(stopping.first_look(plan.settings), most, math.ceil(jobs / cells)))


def _noted(journal: Journal, observer: Observer, rule: Rule | None) -> Rule | None:
    """Its looks, shown, and in the journal how the last one ended the campaign."""
    if rule is None:
        return None

    def noted(blocks: int) -> Look:
        look = rule(blocks)
        observer.looked(look)
        if look.ends is not None:
            ended = Ended(blocks, look.ends, look.decided)
            journal.set_fact("ended", asdict(ended))
        return look

    return noted


@contextmanager
def _prepared(plan: Plan, journal: Journal, engine: Engine, observer: Observer) -> Iterator[Arms]:
    try:
        engine.prepare(observer.say)
        arms = {arm.label: _named(plan, arm) | _facts(engine, arm) for arm in plan.arms}
        sessions.refuse_to_mix(journal.fact("parts", []), _part(plan, engine, arms), engine.unmixable)
        yield arms
    finally:
        engine.close()


def _part(plan: Plan, engine: Engine, arms: Arms) -> Part:
    """What is known of what samples are taken with now."""
    taker = {"version": __version__, "engine": plan.settings.on, "clock": plan.clock}
    # As it will be read.
    return Part.model_validate_json(json.dumps({**engine.fingerprint(), "arms": arms, "runoff": taker}))


def _named(plan: Plan, arm: Arm) -> dict[str, str]:
    """What a short name stands for."""
    text = plan.settings.names.get(arm.label)
    return {} if text is None else {"arm": text}


def _facts(engine: Engine, arm: Arm) -> dict[str, str]:
    """What the arm's scheduler is, and its elevator if it has one."""
    found = _check(engine, arm)
    scheduler = found.ops if arm.needs_sched_ext else "the kernel's own"
    facts = {"scheduler": scheduler, "object_sha256": found.object, "kernel": arm.kernel or ""}
    if arm.scheduler["kind"] == "program":
        facts |= programs.describe(arm.scheduler["argv"][0])
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
    waiting: Waiting,
    arms: Arms,
    wish: _Wish,
    jobs: int,
    doubt: Doubt | None,
) -> bool:
    """Whether it is hopeless."""
    running: dict[Future[Outcome], tuple[Cell, Conditions, float]] = {}
    earlier = [part.tables for part in journal.fact("parts", [])]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        while True:
            reason = doubt.find_reason(journal) if doubt is not None else None
            while len(running) < jobs and wish.stop is Stop.NO and reason is None:
                journal.require_in_place()
                cell = waiting.next(idle=not running)
                if cell is None:
                    break
                observer.started(cell)
                began = conditions.now()
                running[pool.submit(engine.take, cell, _phases(observer, cell))] = cell, began, time.monotonic()
            if not running:
                if reason is not None:
                    observer.gave_up(reason)
                return reason is not None
            # Short waits: Python runs signal handlers between them.
            for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done:
                cell, began, began_s = running.pop(future)
                seconds = time.monotonic() - began_s
                outcome = future.result()
                if wish.stop is Stop.NOW:
                    continue
                outcome = _proved(outcome, arms[plan.arms[cell.arm].label]["object_sha256"])
                journal.set_fact("parts", [*earlier, _part(plan, engine, arms).tables])
                journal.set_fact("warnings", list(engine.warnings()))
                arm, work, load = plan.arms[cell.arm].label, plan.works[cell.work].label, plan.load_labels[cell.load]
                log = outcome.requests if isinstance(outcome, Taken) else ""
                journal.add(
                    cell,
                    arm,
                    work,
                    load,
                    outcome,
                    began,
                    seconds=seconds,
                    part=len(earlier),
                    requests_sha256=requests.keep(journal.directory, cell.id, log) if log else None,
                )
                observer.finished(cell, outcome)


def _proved(outcome: Outcome, expected: str) -> Outcome:
    """Void if another object was attached than when the arm was tried: the agent may be another by now."""
    found = (outcome.proof or {}).get("object", "")
    if isinstance(outcome, Voided) or found == expected:
        return outcome
    was, is_now = (text[:12] or "none" for text in (expected, found))
    return Voided(f"another object was attached than at the start ({was} then, {is_now} now)", proof=outcome.proof)


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

    # Other threads cannot have handlers, and need none: whoever began them decides about signals.
    own = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM) if own}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
