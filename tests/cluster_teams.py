"""The workers of a cluster without a cluster: a team that has the members that it is told to have."""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from runoff.cluster.team import Member, Team, _State

Answer = Callable[[Member, Callable[..., Any]], Any]


def refuse_all(member: Member, function: Callable[..., Any]) -> Any:
    raise AssertionError(f"{member.name} is asked for {function}")


class FixedTeam(Team):
    """Nobody comes or goes, and workers answer as ``answer`` does, which is given the function that they would run."""

    def __init__(self, *members: Member, answer: Answer = refuse_all, one_each: bool = False) -> None:
        self._changed = threading.Condition()
        self._machines = {}
        self._one_each = one_each
        self._job = SimpleNamespace(name="job", parcels=())  # type: ignore[assignment]
        self._connection = SimpleNamespace(  # type: ignore[assignment]
            client=SimpleNamespace(scheduler=SimpleNamespace(address="tls://127.0.0.1:1"))
        )
        self.said: list[str] = []
        self._say = self.said.append
        self._answer = answer
        self.put(*members)

    def put(self, *members: Member) -> None:
        self._state = _State({member.address: member for member in members})

    def _ask(self, member: Member, function: Callable[..., Any], *_: Any) -> Any:
        return self._answer(member, function)


def make_member(name: str, slots: int = 1, refusal: str = "") -> Member:
    """A worker that is ready unless it is refused, on the machine ``name``."""
    return Member(f"tls://127.0.0.1:{name}", slots, hostname=name, machine=name, is_ready=not refusal, refusal=refusal)
