"""A worker that takes a sample of another campaign is waited for, however long that takes."""

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import distributed
import pytest

from runoff.cluster import team as teams
from runoff.cluster import worker
from runoff.cluster.answers import About
from runoff.cluster.connection import wait_for_answer
from runoff.cluster.team import TAKEN, Team

LIMIT_S = 60.0
HAS_BEGUN, MAY_END = threading.Event(), threading.Event()
"""The worker is of this process."""


def take_sample() -> None:
    HAS_BEGUN.set()
    MAY_END.wait(LIMIT_S)


def meet(job: Any) -> About:
    return About("host", "machine")


def answer(*_: Any) -> tuple[()]:
    return ()


@pytest.fixture
def clients() -> Iterator[list[Any]]:
    """Two clients of a scheduler that has one worker of one thread."""
    kind = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(host="127.0.0.1", protocol="tcp://", **kind) as cluster:
        both = [distributed.Client(cluster, set_as_default=False) for _ in range(2)]
        yield both
        MAY_END.set()
        for client in both:
            client.close()


def wait_for_looks(team: Team, waits: list[Any]) -> None:
    """Return when the team has looked for the answer a few times more."""
    enough = len(waits) + 3
    team.wait_for(team.list_ready, lambda: len(waits) >= enough, "no worker", "wait")


def test_the_time_to_answer_begins_when_the_worker_is_free(clients: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, function in (("meet", meet), ("list_lacking", answer), ("open_job", answer), ("close_job", answer)):
        monkeypatch.setattr(worker, name, function)
    monkeypatch.setattr(teams, "require_safe", answer)
    monkeypatch.setattr(teams, "LOOK_S", 0.05)
    monkeypatch.setattr(teams, "SILENCE_S", 0.0)
    waits: list[Any] = []

    def count(future: Any, timeout_s: float) -> Any:
        waits.append(future)
        return wait_for_answer(future, timeout_s)

    monkeypatch.setattr(teams, "wait_for_answer", count)
    ours, others = clients
    sample = others.submit(take_sample, pure=False)
    assert HAS_BEGUN.wait(LIMIT_S)
    said: list[str] = []
    team = Team(
        SimpleNamespace(client=ours),  # type: ignore[arg-type]
        SimpleNamespace(name="job", parcels=()),  # type: ignore[arg-type]
        said.append,
        one_each=False,
    )
    try:
        team.wait_for(team.list_ready, lambda: any(TAKEN in each for each in said), "no worker", "wait")
        # No worker could answer in so little time.
        monkeypatch.setattr(teams, "ANSWER_S", 0.0)
        wait_for_looks(team, waits)
        monkeypatch.setattr(teams, "ANSWER_S", LIMIT_S)
        wait_for_looks(team, waits)
        MAY_END.set()
        (ready,) = team.wait_for(team.list_ready, lambda: False, "no worker", "wait")
        assert not ready.is_taken
        assert sample.result(LIMIT_S) is None
    finally:
        team.close("job")
