"""Where samples go under the real clock: whole blocks on one machine, which waits for no other."""

import threading

import pytest

from runoff.cluster.places import Anywhere, WholeBlocks
from runoff.cluster.team import Member, Team
from runoff.errors import MissingError
from runoff.plan.order import Cell


class FixedTeam(Team):
    """Has the workers that it is told to have; nobody admits others."""

    def __init__(self, *members: Member) -> None:
        self._changed = threading.Condition()
        self.put(*members)

    def put(self, *members: Member) -> None:
        from runoff.cluster.team import _State

        self._state = _State({member.address: member for member in members})


def member(name: str, slots: int = 1, refusal: str = "") -> Member:
    return Member(f"tls://127.0.0.1:{name}", slots, hostname=name, machine=name, is_ready=not refusal, refusal=refusal)


def cell(block: int) -> Cell:
    return Cell(f"b{block}", block, 0, 0, 0, 0, 1)


def never() -> bool:
    return False


def test_anywhere_is_every_worker_that_is_ready():
    places = Anywhere(FixedTeam(member("a", 4), member("b", 2), member("c", 8, "no room")))
    assert places.slots == 6
    with places.hold(cell(0), never) as found:
        assert [each.hostname for each in found] == ["a", "b"]


def test_a_block_stays_with_the_machine_that_has_begun_it():
    team = FixedTeam(member("a"), member("b"))
    places = WholeBlocks(team, {})
    with places.hold(cell(0), never) as first, places.hold(cell(1), never) as second:
        assert [each.hostname for each in (*first, *second)] == ["a", "b"]
    for _ in range(3):
        with places.hold(cell(1), never) as again:
            assert again == second


def test_blocks_of_an_earlier_session_go_on_where_they_were_begun():
    places = WholeBlocks(FixedTeam(member("a"), member("b")), {3: "b"})
    with places.hold(cell(3), never) as found:
        assert [each.hostname for each in found] == ["b"]


def test_a_block_whose_machine_is_gone_waits_and_keeps_no_other_from_work(monkeypatch: pytest.MonkeyPatch):
    team = FixedTeam(member("b"))
    places = WholeBlocks(team, {3: "a"})
    is_over = threading.Event()
    found: list[list[Member]] = []

    def wait() -> None:
        with places.hold(cell(3), is_over.is_set) as members:
            found.append(members)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while places.slots == 1:
        pass
    assert places.slots == 2
    with places.hold(cell(4), never) as others:
        assert [each.hostname for each in others] == ["b"]
    is_over.set()
    waiting.join()
    assert found == [[]]


def test_a_machine_that_stays_away_in_the_middle_of_its_block_ends_the_campaign_with_the_way_out():
    places = WholeBlocks(FixedTeam(member("b")), {3: "a"}, patience_s=0)
    with pytest.raises(MissingError) as refused, places.hold(cell(3), never):
        pass
    told = "the machine that has begun block 4 is gone, and a block is of one machine"
    assert str(refused.value) == f"{told}: start one (docs/cluster.md), then: runoff resume DIRECTORY"
    with places.hold(cell(4), never) as others:
        assert [each.hostname for each in others] == ["b"]


def test_when_nobody_comes_the_reason_is_told():
    team = FixedTeam()
    with pytest.raises(MissingError, match=r"nobody is there: start one \(docs/cluster.md\), then: runoff resume"):
        team.wait_for(team.list_ready, never, "nobody is there", patience_s=0)
    team.put(member("a", refusal="it has no QEMU"))
    with pytest.raises(
        MissingError, match=r"no worker of the cluster can take samples: a \(127.0.0.1:a\): it has no QEMU"
    ):
        team.wait_for(team.list_ready, never, "nobody is there")
