"""What became of each arm on each kernel."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from runoff.errors import INTERRUPTED, MissingError
from runoff.statistics import Comparison, Verdict


@dataclass(frozen=True, slots=True)
class Entry:
    """One arm on one kernel."""

    kernel: str
    """As the user asked for it."""
    arm: str
    refused: str = ""
    """Why it does not load or attach there; empty if it does."""
    missing: str = ""
    """What the lab lacks to try it, such as the kernel; that is not the scheduler's failure. Empty if nothing."""
    detail: str = ""
    """What the kernel logged, if the arm was refused or the stress failed."""
    stress: str = ""
    """How the stress failed; empty if it did not, or was not taken."""
    stressed_s: float | None = None
    """For how many virtual seconds the arm survived the stress; None if it did not, or was not taken."""
    longest_wait_ms: float | None = None
    """Longest wait of a normal task for a CPU in the stress."""
    speed: Comparison | None = None
    """Against the kernel's own scheduler; None if that was not taken."""

    @property
    def folder(self) -> str:
        """Name of its kernel's folder in the matrix' directory."""
        return name_folder(self.kernel)

    @property
    def has_failed(self) -> bool:
        """Whether the arm was refused, or failed under stress."""
        return bool(self.refused or self.stress)

    @property
    def is_complete(self) -> bool:
        """Whether everything that was to be tried of it was."""
        return self.has_failed or (self.stressed_s is not None and self.speed is not None)


def name_folder(kernel: str) -> str:
    """Return the name of a kernel's folder in the matrix' directory."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", kernel)


@dataclass(frozen=True, slots=True)
class KernelMatrix:
    """All arms on all kernels."""

    kernels: Sequence[str]
    arms: Sequence[str]
    entries: Sequence[Entry]
    """By kernel, then by arm."""
    seconds: int
    """Virtual seconds of the stress."""
    work: str
    """The workload by which speed is measured."""
    clock: str
    is_stopped: bool = False
    """Whether the user stopped it."""

    @property
    def exit_code(self) -> int:
        """Return 130 if the user stopped it, 1 if some arm fails on some kernel, 69 if something is missing to try one,
        2 if not all was taken, else 0."""
        if self.is_stopped:
            return INTERRUPTED
        if any(entry.has_failed for entry in self.entries):
            return 1
        if self.untried:
            return MissingError.exit_code
        complete = len(self.entries) == len(self.kernels) * len(self.arms)
        return 0 if complete and all(entry.is_complete for entry in self.entries) else 2

    @property
    def untried(self) -> list[Entry]:
        """Entries that could not be tried because the lab lacks something."""
        return [entry for entry in self.entries if entry.missing]

    @property
    def slower(self) -> list[Entry]:
        """Entries that are slower than the kernel's own scheduler for certain."""
        return [e for e in self.entries if e.speed is not None and e.speed.verdict is Verdict.WORSE]
