"""Errors that end a command: one sentence that names the thing and the way out, and an exit code."""

from pathlib import Path
from shlex import join

INTERRUPTED = 130
"""Exit code of what Ctrl-C or SIGTERM has ended, as shells have it."""


class RunoffError(Exception):
    """A check or a run failed; the text is a sentence."""

    exit_code = 1

    def __init__(self, sentence: str, *, hint: tuple[str | Path, ...] = ()) -> None:
        """``hint`` has the words of a command of runoff's that is the way out: ``("resume", directory)``."""
        super().__init__(sentence)
        self.hint = tuple(map(str, hint))

    def describe(self) -> str:
        """Return the sentence with the hint as a command, for people at a terminal."""
        return f"{self}: {join(('runoff', *self.hint))}" if self.hint else str(self)


class UsageError(RunoffError):
    """The user asked for something that does not exist or makes no sense."""

    exit_code = 64


class MissingError(RunoffError):
    """Something that is needed is not there: a program, a kernel feature, a right, space."""

    exit_code = 69


class StoppedError(RunoffError):
    """The user stopped it before there was anything to show."""

    exit_code = INTERRUPTED


def choose_error(exit_code: int) -> type[RunoffError]:
    """Return the kind of error that an agent's exit code stands for."""
    return {kind.exit_code: kind for kind in (UsageError, MissingError)}.get(exit_code, RunoffError)
