"""What Ctrl-C does, whenever it comes."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import journals
import made_campaigns
import pytest
from answering import TAKEN, Answering, answer_after
from waiting import LIMIT_S

from runoff.campaign import directory
from runoff.campaign.loop.execution import Execution
from runoff.campaign.loop.observer import SilentObserver
from runoff.campaign.loop.run import Ending, run
from runoff.engines.outcome import Outcome, VoidSample
from runoff.plan.order import Cell


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Listener(SilentObserver):
    """Is told what is stopping; ``at_start`` is called amid what it does when a sample begins."""

    def __init__(self, at_start: Callable[[], None] = lambda: None) -> None:
        self._at_start = at_start
        self._is_busy = False
        self.told: list[bool] = []
        self.was_told = threading.Event()

    def started(self, cell: Cell) -> None:
        self._is_busy = True
        self._at_start()
        self._is_busy = False

    def stopping(self, now: bool) -> None:
        assert not self._is_busy, "interrupted amid something else"
        self.told.append(now)
        self.was_told.set()


class Abandoned(Answering):
    """An engine whose second sample ends when it is abandoned."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__(answer_after(act))
        self.was_abandoned = threading.Event()

    def abandon(self) -> None:
        self.was_abandoned.set()


@contextmanager
def nine_samples(place: Path) -> Iterator[Callable[[Answering, Listener], tuple[Ending, int]]]:
    """How a campaign of nine ends, and how many of its samples it has then, the first of the order."""
    made_campaigns.made(place, lambda _: None, stop_after=0, on="host", clock=None, arms=("default",), blocks=9)
    journals.forge_fact(place, "parts", None)
    plan, journal = directory.reopen(place)

    def take(engine: Answering, listener: Listener) -> tuple[Ending, int]:
        ending = run(plan, journal, engine, listener, Execution())
        done = len(journal.done())
        assert journal.done() == {cell.id for cell in plan.cells[:done]}
        return ending, done

    with journal:
        yield take


def test_the_sample_that_runs_is_finished(tmp_path: Path) -> None:
    listener = Listener()
    with nine_samples(tmp_path / "c") as take:
        found = take(Answering(answer_after(lambda: (interrupt(), listener.was_told.wait(LIMIT_S)))), listener)
    assert (found, listener.told) == ((Ending.STOPPED, 2), [False])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_the_signal_interrupts_goes_on_before_anything_is_told(tmp_path: Path, number: signal.Signals) -> None:
    listener = Listener(at_start=lambda: os.kill(os.getpid(), number))
    with nine_samples(tmp_path / "c") as take:
        found = take(Answering(), listener)
    assert (found, listener.told) == ((Ending.STOPPED, 1), [False])


def test_the_second_time_it_is_abandoned_and_not_kept_and_a_third_time_changes_nothing(tmp_path: Path) -> None:
    listener = Listener()

    def thrice() -> None:
        interrupt()
        assert listener.was_told.wait(LIMIT_S)
        interrupt()
        assert engine.was_abandoned.wait(LIMIT_S)
        interrupt()

    engine = Abandoned(thrice)
    with nine_samples(tmp_path / "c") as take:
        found = take(engine, listener)
    assert (found, listener.told) == ((Ending.STOPPED, 1), [False, True])


def test_where_nothing_can_be_told_any_more_the_running_sample_is_abandoned(tmp_path: Path) -> None:
    """Such as to a pipe whose reader is gone."""

    class Deaf(Listener):
        def stopping(self, now: bool) -> None:
            raise BrokenPipeError

    def wait_to_be_abandoned() -> None:
        interrupt()
        assert engine.was_abandoned.wait(LIMIT_S)

    engine = Abandoned(wait_to_be_abandoned)
    with nine_samples(tmp_path / "c") as take, pytest.raises(BrokenPipeError):
        take(engine, Deaf())


@pytest.mark.parametrize("stopped", [True, False])
def test_a_sample_that_a_shutdown_has_cut_is_taken_again(tmp_path: Path, stopped: bool) -> None:
    """Who tells runoff to stop may tell its agent too; a sample that is void for another reason is kept."""
    listener = Listener()

    def answer(number: int) -> Outcome:
        if number == 0:
            return TAKEN
        interrupt()
        assert listener.was_told.wait(LIMIT_S)
        return VoidSample("it was stopped on request", stopped=stopped)

    with nine_samples(tmp_path / "c") as take:
        assert take(Answering(answer), listener) == (Ending.STOPPED, 1 if stopped else 2)
        assert take(Answering(), Listener()) == (Ending.COMPLETE, 9)


def test_a_sample_whose_agent_alone_was_told_to_end_is_void(tmp_path: Path) -> None:
    with nine_samples(tmp_path / "c") as take:
        lost = Answering(lambda number: VoidSample("it was stopped on request", stopped=True) if number == 1 else TAKEN)
        assert take(lost, Listener()) == (Ending.COMPLETE, 9)


def test_afterwards_signals_do_what_they_did_before(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with nine_samples(tmp_path / "c") as take:
        take(Answering(), Listener())
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
