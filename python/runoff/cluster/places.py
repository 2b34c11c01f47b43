"""Where a sample is taken: anywhere, or on the machine that has begun its block."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from runoff.cluster.connection import PATIENCE_S
from runoff.cluster.team import Member, Team
from runoff.plan.order import Cell

IsOver = Callable[[], bool]


class Places(Protocol):
    """Chooses workers; threads share it."""

    @property
    def slots(self) -> int:
        """Samples at a time at present, at least one."""

    def hold(self, cell: Cell, is_over: IsOver) -> AbstractContextManager[list[Member]]:
        """Yield the workers that may take this sample; none if it ``is_over`` before. Raises MissingError."""


class Anywhere:
    """For the virtual clock: a sample is the same on every worker."""

    def __init__(self, team: Team) -> None:
        self._team = team

    @property
    def slots(self) -> int:
        return max(1, sum(member.slots for member in self._team.list_ready()))

    @contextmanager
    def hold(self, _cell: Cell, is_over: IsOver) -> Iterator[list[Member]]:
        yield self._team.wait_for(self._team.list_ready, is_over, "the cluster has no worker any more")


class WholeBlocks:
    """For the real clock: a machine takes whole blocks, one sample at a time."""

    def __init__(self, team: Team, begun: Mapping[int, str], patience_s: float = PATIENCE_S) -> None:
        """``begun`` has the machines that have begun blocks, by ``Member.owner``; a block's machine may be gone for
        ``patience_s``.
        """
        self._team = team
        self._patience_s = patience_s
        self._owners = dict(begun)
        self._taking: set[str] = set()
        self._waiting = 0

    @property
    def slots(self) -> int:
        # A sample that waits for its machine keeps no other machine from work.
        return max(1, len(self._team.list_ready()) + self._waiting)

    @contextmanager
    def hold(self, cell: Cell, is_over: IsOver) -> Iterator[list[Member]]:
        self._waiting += 1
        try:
            missing = f"the machine that has begun block {cell.block + 1} is gone, and a block is of one machine"
            found = self._team.wait_for(lambda: self._occupy(cell.block), is_over, missing, self._patience_s)
        finally:
            self._waiting -= 1
        try:
            yield found
        finally:
            self._taking -= {member.owner for member in found}

    def _occupy(self, block: int) -> list[Member]:
        """Return the machine of this block if it is free; a block that nobody has begun is given to any that is."""
        owner = self._owners.get(block)
        free = [member for member in self._team.list_ready() if member.owner not in self._taking]
        found = [member for member in free if owner in (None, member.owner)][:1]
        for member in found:
            self._owners[block] = member.owner
            self._taking.add(member.owner)
        return found
