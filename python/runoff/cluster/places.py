"""Where a sample is taken: anywhere, or on the machine that has begun its block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
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

    def begin(self, block: int, members: Sequence[Member]) -> None:
        """Note that one of these, which are held, has taken a sample of this block."""


class Anywhere:
    """For the virtual clock: a sample is the same on every worker."""

    def __init__(self, team: Team, directory: Path) -> None:
        """``directory`` is the campaign's."""
        self._team = team
        self._directory = directory

    @property
    def slots(self) -> int:
        return max(1, sum(member.slots for member in self._team.list_ready()))

    @contextmanager
    def hold(self, _cell: Cell, is_over: IsOver) -> Iterator[list[Member]]:
        missing = "the cluster has no worker any more"
        yield self._team.wait_for(self._team.list_ready, is_over, missing, _describe_way_on(self._directory))

    def begin(self, block: int, members: Sequence[Member]) -> None:
        """Any other may go on with the block."""


class WholeBlocks:
    """For the real clock: a machine takes whole blocks, one sample at a time."""

    def __init__(self, team: Team, directory: Path, begun: Mapping[int, str], patience_s: float = PATIENCE_S) -> None:
        """``directory`` is the campaign's. ``begun`` has the machines that have begun blocks, by ``Member.owner``; a
        block's machine may be gone for ``patience_s``.
        """
        self._team = team
        self._directory = directory
        self._patience_s = patience_s
        self._owners = {block: owner for block, owner in begun.items() if block >= 0}
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
            missing, way_on = self._describe_lack(cell.block)
            found = self._team.wait_for(lambda: self._occupy(cell.block), is_over, missing, way_on, self._patience_s)
        finally:
            self._waiting -= 1
        try:
            yield found
        finally:
            self._taking -= {member.owner for member in found}

    def begin(self, block: int, members: Sequence[Member]) -> None:
        # What warms up is compared with nothing, and may be of several machines.
        if block >= 0 and members:
            self._owners[block] = members[0].owner

    def _describe_lack(self, block: int) -> tuple[str, str]:
        """Return what is missing for a sample of this block, and what to do then."""
        way_on = _describe_way_on(self._directory)
        if block not in self._owners:
            return "the cluster has no worker any more", way_on
        number = block + 1
        return (
            f"the machine that has begun block {number} is gone, and a block is of one machine",
            f"{way_on}; if it never comes back: runoff resume {self._directory} --give-up {number}",
        )

    def _occupy(self, block: int) -> list[Member]:
        """Return the machine of this block if it is free; a block that nobody has begun is given to any that is."""
        owner = self._owners.get(block)
        free = [member for member in self._team.list_ready() if member.owner not in self._taking]
        found = [member for member in free if owner in (None, member.owner)][:1]
        for member in found:
            self._taking.add(member.owner)
        return found


def _describe_way_on(directory: Path) -> str:
    return f"start one (docs/cluster.md), then: runoff resume {directory} --cluster ADDRESS"
