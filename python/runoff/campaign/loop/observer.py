"""Who watches a campaign while its samples are taken."""

from typing import Protocol

from runoff.decide.looks import Look
from runoff.engines.outcome import Outcome
from runoff.plan.order import Cell
from runoff.plan.plan import Plan


class Observer(Protocol):
    """Is called as things happen, ``phase`` from the thread that takes the sample, all else from the one that conducts
    the campaign. Nothing that it does changes a sample."""

    def say(self, text: str) -> None:
        """Tell what is being done, such as booting a guest."""

    def began(self, plan: Plan, done: int) -> None:
        """Samples are taken from here on; ``done`` of the plan's are there already."""

    def started(self, cell: Cell) -> None: ...

    def phase(self, cell: Cell, phase: str) -> None: ...

    def finished(self, cell: Cell, outcome: Outcome) -> None: ...

    def looked(self, look: Look) -> None:
        """After a look of a campaign that goes on until all is decided."""

    def stopping(self, now: bool) -> None:
        """The user wants it to end: after the samples that run, or ``now``."""

    def gave_up(self, reason: str) -> None:
        """The first block is void throughout for one ``reason``."""

    def ended(self) -> None:
        """No more samples are taken; after every ``began``."""


class SilentObserver:
    """Watches, and shows nothing."""

    def say(self, text: str) -> None: ...

    def began(self, plan: Plan, done: int) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def phase(self, cell: Cell, phase: str) -> None: ...

    def finished(self, cell: Cell, outcome: Outcome) -> None: ...

    def looked(self, look: Look) -> None: ...

    def stopping(self, now: bool) -> None: ...

    def gave_up(self, reason: str) -> None: ...

    def ended(self) -> None: ...
