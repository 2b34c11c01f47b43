"""Waiting for what other processes do."""

import time
from collections.abc import Callable

LIMIT_S = 600
"""Limit of any wait, only against hanging: more than ten times what the slowest, busiest machine has needed."""


def wait_until(condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"it did not happen within {limit_s} s"
        time.sleep(0.02)
