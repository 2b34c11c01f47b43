"""The cells that a campaign still has to take, with looks between blocks."""

from collections import deque
from collections.abc import Callable, Collection, Sequence

from runoff.decide.looks import Rule
from runoff.plan.order import Cell


class WaitingCells:
    """Cells that are to be taken, in run order, with looks between blocks if there is a rule.

    The order of samples depends only on earlier samples, not on timing: a look waits until nothing runs.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        *,
        look: Rule | None = None,
        edges: Sequence[int] = (),
        may_take: Callable[[Cell], bool] = lambda _: True,
    ) -> None:
        """``edges`` are numbers of whole blocks after which to look, the last of them that of all blocks.

        From the first cell on that ``may_take`` refuses, none is given out.
        """
        self._cells = deque(cells)
        self._look = look
        self._edges = deque(edges)
        self._most = edges[-1] if edges else 0
        self._may_take = may_take
        self.ended = False
        self.is_blocked = False

    def next(self, *, idle: bool, busy: Collection[int] = ()) -> Cell | None:
        """Return the next one that is not in a ``busy`` block; None if there is none, or not before something that
        runs has finished."""
        if self._look is not None and not self.ended and self._is_look_due():
            if not idle:
                return None
            self._finish_look(self._look)
        if self.ended:
            return None
        # Blocks are in order, so those that run are at the beginning.
        number = next((number for number, cell in enumerate(self._cells) if cell.block not in busy), None)
        if number is None or (self._edges and self._cells[number].block >= self._edges[0]):
            return None
        cell = self._cells[number]
        if self.is_blocked or not self._may_take(cell):
            self.is_blocked = True
            return None
        del self._cells[number]
        return cell

    def _count_whole(self) -> int:
        """Return how many blocks are whole, once nothing runs."""
        return self._cells[0].block if self._cells else self._most

    def _is_look_due(self) -> bool:
        return bool(self._edges) and self._count_whole() >= self._edges[0]

    def _finish_look(self, look: Rule) -> None:
        whole = self._count_whole()
        while self._edges and self._edges[0] <= whole:
            self._edges.popleft()
        self.ended = look(whole).ends is not None


def choose_edges(first: int, most: int, stride: int) -> list[int]:
    """Return the numbers of blocks after which to look: the first, each ``stride`` after it, and the last."""
    return [*range(first, most, stride), most]
