"""Ctrl-C, SIGTERM and SIGHUP: the first lets running samples finish, the second discards them."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType

from runoff.campaign.loop.observer import Observer
from runoff.engines.base import Engine

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop(IntEnum):
    """How much the user wants the campaign to stop."""

    NO = 0
    AFTER_SAMPLE = 1
    NOW = 2


@dataclass(slots=True)
class StopRequest:
    """What the user wants at present."""

    stop: Stop = Stop.NO
    _heeded: Stop = Stop.NO

    def heed(self, engine: Engine, observer: Observer) -> None:
        """Report requests since the last call; where one is to stop now, end the running samples."""
        while self._heeded < self.stop:
            self._heeded = Stop(self._heeded + 1)
            is_now = self._heeded is Stop.NOW
            observer.stopping(now=is_now)
            if is_now:
                engine.abandon()


@contextmanager
def handle_signals() -> Iterator[StopRequest]:
    """Turn signals into a request to stop while the loop runs, which has to heed it."""
    request = StopRequest()

    def handle(_number: int, _frame: FrameType | None) -> None:
        # Whatever was interrupted may be half done, such as a line that is printed or a module that is imported.
        request.stop = Stop(min(request.stop + 1, Stop.NOW))

    with _handle(handle):
        yield request


@contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at each of these signals, so that what the block has changed is put back."""
    with _handle(signal.default_int_handler):
        yield


@contextmanager
def _handle(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    # Only the main thread can have handlers; a caller in another thread decides about signals itself.
    is_main = threading.current_thread() is threading.main_thread()
    # What the caller ignores stays ignored: nohup(1) ignores the end of the terminal.
    heard = [number for number in _SIGNALS if is_main and signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
