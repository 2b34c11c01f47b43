"""An engine that answers at once."""

from collections.abc import Callable, Mapping
from typing import Any

from runoff.engines.outcome import AcceptedArm, Outcome, ValidSample
from runoff.plan.order import Cell

Answer = Callable[[int], Outcome]

TAKEN = ValidSample({"elapsed_s": 1.0}, {"object": ""})


def answer_after(act: Callable[[], object]) -> Answer:
    """Valid samples; before the second ``act`` is called."""

    def answer(number: int) -> Outcome:
        if number == 1:
            act()
        return TAKEN

    return answer


class Answering:
    """Answers the n-th sample, counted from 0, as it is told to."""

    whole_blocks = True
    slots = 1
    unmixable_tables: tuple[str, ...] = ()

    def __init__(self, answer: Answer = lambda _: TAKEN) -> None:
        self._answer = answer
        self.taken = 0

    def prepare(self, _say: object) -> None: ...

    def check(self, _arm: object) -> AcceptedArm:
        return AcceptedArm()

    def take(self, _cell: Cell, _on_phase: object) -> Outcome:
        self.taken += 1
        return self._answer(self.taken - 1)

    def fingerprint(self) -> Mapping[str, Any]:
        return {}

    def warnings(self) -> tuple[str, ...]:
        return ()

    def abandon(self) -> None: ...

    def close(self) -> None: ...
