"""The interface of an engine to the campaign."""

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
    """Turns cells into samples. After ``prepare``, ``close`` must be called in any case."""

    whole_blocks: bool
    """Whether the samples of a block have to be taken one after the other."""

    def prepare(self, say: Callable[[str], None]) -> None:
        """Prepare all that takes long; ``say`` informs the user. Raises RunoffError."""

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        """Check whether this arm can be used at all."""

    def take(self, cell: Cell, on_phase: OnPhase) -> Outcome:
        """Return one sample. Never raises for failures of the work, the scheduler or the guest."""

    @property
    def slots(self) -> int:
        """The most samples at a time at present; ``take`` is called from as many threads."""

    @property
    def unmixable_tables(self) -> tuple[str, ...]:
        """Tables of the fingerprint that must be the same in all of a campaign; complete when all is prepared."""

    def fingerprint(self) -> Mapping[str, Any]:
        """Return tables ``machine``, ``kernel`` and others of this engine; complete after the first sample."""

    def warnings(self) -> tuple[str, ...]:
        """Return reasons to doubt what this engine measures."""

    def abandon(self) -> None:
        """Stop the running samples now, from another thread than theirs."""

    def close(self) -> None:
        """Put everything back."""
