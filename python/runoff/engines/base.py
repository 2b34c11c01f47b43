"""What the campaign asks of an engine."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm
from runoff.plan.arms import Arm
from runoff.plan.order import Cell

OnPhase = Callable[[str], None]
"""Called with ``prepare``, ``attach``, ``run`` as a sample proceeds."""


def make_machine_tables(agent: Mapping[str, Any]) -> dict[str, Any]:
    """Return an agent's fingerprint as the tables of a report."""
    tables = dict(agent)
    return {"machine": tables.pop("hardware", {}), "kernel": tables.pop("kernel", {}), **tables}


class Engine(Protocol):
    """Turns cells into samples. Whoever has called ``prepare`` calls ``close`` in the end, whatever happened."""

    parallel: bool
    """Whether ``take`` may be called from several threads at once."""

    def prepare(self, say: Callable[[str], None]) -> None:
        """Prepare all that takes long; ``say`` tells the user. Raises RunoffError."""

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        """Check whether this arm can be used at all."""

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        """Return one sample. Never raises for what the work, the scheduler or the guest did."""

    @property
    def unmixable_tables(self) -> tuple[str, ...]:
        """Tables of the fingerprint, whole when all is prepared, that must be the same for all of a campaign."""

    def fingerprint(self) -> Mapping[str, Any]:
        """Return tables ``machine``, ``kernel`` and whatever else this engine adds; whole after the first sample."""

    def warnings(self) -> tuple[str, ...]:
        """Return reasons to doubt what this engine measures."""

    def abandon(self) -> None:
        """Stop the running sample now; may be called from a signal handler's thread."""

    def close(self) -> None:
        """Put everything back."""
