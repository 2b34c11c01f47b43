"""A scheduler on this machine, outside any campaign: attached for a user, changed, watched."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runoff.engines.agent import find_agent
from runoff.errors import RunoffError, choose_error


def set_parameters(scheduler: str, pairs: Sequence[str]) -> Mapping[str, Any]:
    """Set ``key=value`` pairs in the running scheduler. Return their new values, or all parameters if none is given.

    Raises RunoffError, and then nothing has been changed.
    """
    agent = subprocess.run([find_agent(), "set", "--", scheduler, *pairs], capture_output=True, text=True, check=False)
    raise_failure(agent.returncode, agent.stderr)
    values: Mapping[str, Any] = json.loads(agent.stdout)
    return values


class Watch:
    """The counters of a scheduler, read by an agent of its own.

    ``statistics`` are the counters' names and sentences, in order. If the agent attaches the scheduler,
    ``limited_groups`` are the control groups with a quota or a weight of their own, and ``long_turn`` is None or the
    ``parameter`` and ``unit`` with which one of more than ``starves_above`` tasks per CPU starves, safely up to
    ``safe_up_to`` of them. All are there from the first reading on. Iterating gives readings with ``scheduler``,
    ``elapsed_s`` and ``counters``, and ``per_cpu`` if the agent was asked for it.
    """

    def __init__(self, *words: str) -> None:
        """``words`` are the agent's command. Call ``end`` whatever happens."""
        # A session of its own, so that only this process gets a Ctrl-C; it passes every signal on.
        self._agent = subprocess.Popen(
            [find_agent(), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.statistics: Sequence[Mapping[str, str]] = ()
        self.limited_groups: Sequence[str] = ()
        self.long_turn: Mapping[str, Any] | None = None

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        assert self._agent.stdout is not None
        for line in self._agent.stdout:
            reading = json.loads(line)
            if "statistics" in reading:
                self.statistics = reading["statistics"]
            elif "limited_groups" in reading:
                self.limited_groups = reading["limited_groups"]
                self.long_turn = reading["long_turn"]
            else:
                yield reading

    def end(self) -> None:
        """Stop it, if it has not ended by itself, and raise RunoffError with its reason if it failed."""
        self._agent.terminate()
        _, errors = self._agent.communicate()
        # It ends so when it is stopped before it has done anything.
        if self._agent.returncode != -signal.SIGTERM:
            raise_failure(self._agent.returncode, errors)


def raise_failure(code: int, errors: str, left: str = "what it had attached is detached") -> None:
    """Raise the error that an agent ended with, if it did; ``left`` is what a signal leaves. Raises RunoffError."""
    if code == 0:
        return
    if code < 0:
        raise RunoffError(f"the agent was ended by signal {-code}; {left}")
    raise choose_error(code)(errors.strip().removeprefix("runoff-agent: "))
