"""What the campaign asks of an engine."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from runoff.arms import Arm
from runoff.campaign.order import Cell
from runoff.engines.outcome import Accepted, Outcome, Refused

OnPhase = Callable[[str], None]
"""Called with ``prepare``, ``attach``, ``run`` as a sample proceeds."""


class Engine(Protocol):
    """Turns cells into samples. Used as a context manager; leaving it puts everything back."""

    parallel: bool
    """Whether ``take`` may be called from several threads at once."""

    def prepare(self, say: Callable[[str], None]) -> None:
        """Make ready whatever takes long; ``say`` tells the user. Raises RunoffError."""

    def check(self, arm: Arm) -> Accepted | Refused:
        """Can this arm be used at all?"""

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        """One sample. Never raises for what the work, the scheduler or the guest did."""

    def fingerprint(self) -> Mapping[str, Any]:
        """Tables ``machine``, ``kernel`` and whatever else this engine adds; whole after the first sample."""

    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt what this engine measures."""

    def abandon(self) -> None:
        """Stop the running sample now; may be called from a signal handler's thread."""

    def close(self) -> None:
        """Put everything back."""
