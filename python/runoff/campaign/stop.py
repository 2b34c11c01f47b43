"""Ctrl-C and SIGTERM: the first lets running samples finish, the second discards them."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType

from runoff.campaign.observer import Observer
from runoff.engines.base import Engine


class Stop(IntEnum):
    """How much the user wants the campaign to stop."""

    NO = 0
    AFTER_SAMPLE = 1
    NOW = 2


@dataclass(slots=True)
class StopRequest:
    """What the user wants at present."""

    stop: Stop = Stop.NO


@contextmanager
def handle_signals(engine: Engine, observer: Observer) -> Iterator[StopRequest]:
    """Turn signals into a request to stop while the loop runs."""
    request = StopRequest()

    def handle(_number: int, _frame: FrameType | None) -> None:
        if request.stop is Stop.NO:
            request.stop = Stop.AFTER_SAMPLE
            observer.stopping(now=False)
        elif request.stop is Stop.AFTER_SAMPLE:
            request.stop = Stop.NOW
            observer.stopping(now=True)
            # Ending a guest takes a moment; a handler must not.
            threading.Thread(target=engine.abandon, daemon=True).start()

    # Only the main thread can have handlers; a caller in another thread decides about signals itself.
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM) if is_main}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
