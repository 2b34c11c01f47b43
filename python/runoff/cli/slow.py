"""What takes long says what it is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from runoff.cli.output import echo

PATIENCE_S = 1.0
"""How long somebody waits without a word."""


@contextmanager
def name_if_slow(what: str) -> Iterator[None]:
    """Say on standard error ``what`` is done here, if it takes more than a second."""
    timer = threading.Timer(PATIENCE_S, echo, [f"{what} ..."], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
