"""An engine whose samples are nothing, and what happens while one of them is taken."""

from collections.abc import Callable

from runoff.engines.outcome import AcceptedArm, Outcome, ValidSample
from runoff.plan.order import Cell


class Taking:
    """Has a sample at once, and calls ``act`` in the second one."""

    whole_blocks = True
    slots = 1
    unmixable_tables = ()

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = act
        self.taken = 0

    def prepare(self, _say: object) -> None: ...

    def check(self, _arm: object) -> AcceptedArm:
        return AcceptedArm()

    def take(self, _cell: Cell, _on_phase: object) -> Outcome:
        self.taken += 1
        if self.taken == 2:
            self._act()
        return ValidSample({"elapsed_s": 1.0}, {"object": ""})

    def fingerprint(self) -> dict[str, object]:
        return {}

    def warnings(self) -> tuple[str, ...]:
        return ()

    def abandon(self) -> None: ...

    def close(self) -> None: ...
