"""Who is admitted to a cluster's team, and who is not."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cluster_teams import FixedTeam, make_member

from runoff import make_settings
from runoff.cluster import engine as engines
from runoff.cluster import team as teams
from runoff.cluster import worker
from runoff.cluster.answers import About
from runoff.cluster.engine import ClusterEngine, _WorkersGone
from runoff.cluster.local import REAL_CLOCK
from runoff.cluster.places import WholeBlocks
from runoff.cluster.team import Member, NotAdmitted
from runoff.engines.outcome import Origin, ValidSample, VoidSample
from runoff.plan.make import make_plan
from runoff.plan.order import Cell
from runoff.results import Conditions

RESOURCES = {REAL_CLOCK: 1.0}


def come(name: str) -> Member:
    return Member(f"tls://127.0.0.1:{name}", 1)


def answer(member: Member, function: Callable[..., Any]) -> Any:
    """As a worker of the one machine that all are on does."""
    if function is worker.list_versions:
        return worker.list_versions()
    if function is worker.meet:
        return About("host", "machine")
    return ()


def test_of_workers_that_do_not_wait_for_each_other_a_machine_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker waits for another of its machine for a minute only; both may be preparing then."""
    monkeypatch.setattr(teams, "TURN_S", 0.0)
    both = threading.Barrier(2)
    closed: list[Member] = []

    def answer_together(member: Member, function: Callable[..., Any]) -> Any:
        if function is worker.open_job:
            both.wait(60)
        if function is worker.close_job:
            closed.append(member)
        return answer(member, function)

    members = come("1"), come("2")
    team = FixedTeam(*members, answer=answer_together, one_each=True)
    threads = [threading.Thread(target=team._admit, args=(member, RESOURCES)) for member in members]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    (ready,) = team.list_ready()
    (other,) = (member for member in members if member is not ready)
    assert other.refusal == "another worker takes the samples of its machine"
    assert closed == [other]


@pytest.mark.parametrize(("threads", "resources"), [(1, {}), (8, RESOURCES)])
def test_under_the_real_clock_a_worker_does_one_thing_at_a_time(threads: int, resources: Mapping[str, float]) -> None:
    member = Member("tls://127.0.0.1:1", threads)
    team = FixedTeam(member, answer=answer, one_each=True)
    team._admit(member, resources)
    assert member.refusal == "start it with --nthreads 1 --resources machine=1, for one thing at a time"


def test_machines_that_take_any_number_of_samples_have_any_number_of_workers() -> None:
    members = come("1"), come("2")
    team = FixedTeam(*members, answer=answer)
    for member in members:
        team._admit(member, {})
    assert team.list_ready() == [*members]


@pytest.mark.parametrize("error", [NotAdmitted("too late"), ValueError("unreadable")], ids=["refused", "broken"])
def test_the_late_failure_of_a_worker_is_not_that_of_the_next_one_at_its_address(error: Exception) -> None:
    early, late = come("1"), come("1")
    team = FixedTeam(early)

    def fail_late(member: Member, function: Callable[..., Any]) -> Any:
        team.put(late)
        raise error

    team._answer = fail_late
    team._admit(early, RESOURCES)
    assert late.refusal == ""
    assert team.said == []


def sample(member: Member, **tables: str) -> ValidSample:
    here = Conditions("2026-11-27T12:00:00+00:00", 0.0)
    return ValidSample(
        {"elapsed_s": 1.0}, {}, origin=Origin(member.hostname, member.machine, here, tables, member.name)
    )


@pytest.fixture
def engine(tmp_path: Path) -> ClusterEngine:
    settings = make_settings(arms=["default"], workloads=["hackbench"], on="lab", clock="virtual")
    return ClusterEngine(make_plan(settings), tmp_path, "local:1", {}, ())


def test_a_sample_of_another_kernel_is_taken_again_elsewhere(engine: ClusterEngine) -> None:
    first, other = make_member("a"), make_member("b")
    team = FixedTeam(first, other)
    engine._prepared = SimpleNamespace(team=team)  # type: ignore[assignment]
    members = [first, other]
    accepted = sample(first, kernels="7.3.4", qemu="10.0")
    assert engine._accept(accepted, members) is accepted
    assert engine._accept(sample(other, kernels="7.3.5", qemu="10.0"), members) is None
    assert other.refusal == "not the same as for earlier samples: its kernels"
    assert first.refusal == ""
    assert engine._accept(accepted, members) is accepted


def test_a_sample_that_is_lost_too_often_is_of_the_machine_that_lost_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the real clock it would be of the machine that conducts the campaign, which takes no samples."""
    settings = make_settings(arms=["default"], workloads=["hackbench"], on="lab", clock="real")
    real = ClusterEngine(make_plan(settings), tmp_path, "local:1", {}, ())
    north = make_member("north")
    places = WholeBlocks(FixedTeam(north), tmp_path, {})
    real._prepared = SimpleNamespace(places=places)  # type: ignore[assignment]

    def lose(*_: Any) -> None:
        raise _WorkersGone

    monkeypatch.setattr(engines, "AGAIN_S", 0.0)
    monkeypatch.setattr(real, "_ask", lose)
    real._accept(sample(north, kernels="7.3.4"), [north])
    outcome = real.take(Cell("b0", 0, 0, 0, 0, 0, 1), lambda _: None)
    assert isinstance(outcome, VoidSample)
    assert outcome.origin is not None
    assert (outcome.origin.hostname, outcome.origin.fingerprint) == ("north", {"kernels": "7.3.4"})
    assert places._owners == {0: "north"}
