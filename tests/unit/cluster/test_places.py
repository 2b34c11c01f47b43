"""Where samples go under the real clock: whole blocks on one machine, which waits for no other."""

import threading
from pathlib import Path

import pytest
from cluster_teams import FixedTeam, make_member

from runoff.cluster.places import Anywhere, WholeBlocks
from runoff.cluster.team import Member
from runoff.errors import MissingError
from runoff.plan.order import Cell

CAMPAIGN = Path("some/campaign")


def cell(block: int) -> Cell:
    return Cell(f"b{block}", block, 0, 0, 0, 0, 1)


def never() -> bool:
    return False


def test_anywhere_is_every_worker_that_is_ready():
    places = Anywhere(FixedTeam(make_member("a", 4), make_member("b", 2), make_member("c", 8, "no room")), CAMPAIGN)
    assert places.slots == 6
    with places.hold(cell(0), never) as found:
        assert [each.hostname for each in found] == ["a", "b"]


def test_a_block_stays_with_the_machine_that_has_begun_it():
    team = FixedTeam(make_member("a"), make_member("b"))
    places = WholeBlocks(team, CAMPAIGN, {})
    with places.hold(cell(0), never) as first, places.hold(cell(1), never) as second:
        assert [each.hostname for each in (*first, *second)] == ["a", "b"]
        places.begin(1, second)
    for _ in range(3):
        with places.hold(cell(1), never) as again:
            assert again == second


def test_blocks_of_an_earlier_session_go_on_where_they_were_begun():
    places = WholeBlocks(FixedTeam(make_member("a"), make_member("b")), CAMPAIGN, {3: "b"})
    with places.hold(cell(3), never) as found:
        assert [each.hostname for each in found] == ["b"]


def test_a_block_of_which_nothing_was_taken_goes_to_another_when_its_machine_dies():
    team = FixedTeam(make_member("a"))
    places = WholeBlocks(team, CAMPAIGN, {}, patience_s=0)
    with places.hold(cell(1), never) as found:
        assert [each.hostname for each in found] == ["a"]
    team.put(make_member("b"))
    with places.hold(cell(1), never) as found:
        assert [each.hostname for each in found] == ["b"]


def test_what_warms_up_waits_for_no_machine():
    places = WholeBlocks(FixedTeam(make_member("b")), CAMPAIGN, {-1: "a"}, patience_s=0)
    with places.hold(cell(-1), never) as found:
        places.begin(-1, found)
        assert [each.hostname for each in found] == ["b"]
    team = FixedTeam(make_member("c"))
    places._team = team
    with places.hold(cell(-1), never) as found:
        assert [each.hostname for each in found] == ["c"]


def test_a_block_whose_machine_is_gone_waits_and_keeps_no_other_from_work(monkeypatch: pytest.MonkeyPatch):
    team = FixedTeam(make_member("b"))
    places = WholeBlocks(team, CAMPAIGN, {3: "a"})
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
    places = WholeBlocks(FixedTeam(make_member("b")), CAMPAIGN, {3: "a"}, patience_s=0)
    with pytest.raises(MissingError) as refused, places.hold(cell(3), never):
        pass
    told = "the machine that has begun block 4 is gone, and a block is of one machine"
    assert str(refused.value) == (
        f"{told}: start one (docs/cluster.md), then: runoff resume some/campaign --cluster ADDRESS; if it never comes "
        "back: runoff resume some/campaign --give-up 4"
    )
    with places.hold(cell(4), never) as others:
        assert [each.hostname for each in others] == ["b"]


def test_when_nobody_comes_the_reason_is_told():
    team = FixedTeam()
    with pytest.raises(MissingError, match=r"^nobody is there: start one$"):
        team.wait_for(team.list_ready, never, "nobody is there", "start one", patience_s=0)
    team.put(make_member("a", refusal="it has no QEMU"))
    with pytest.raises(
        MissingError, match=r"no worker of the cluster can take samples: a \(127.0.0.1:a\): it has no QEMU"
    ):
        team.wait_for(team.list_ready, never, "nobody is there", "start one")
