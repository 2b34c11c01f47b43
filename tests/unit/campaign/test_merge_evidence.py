"""What is merged is evidence of several machines: not copies, not one machine twice, not a clock without machines."""

from collections.abc import Callable
from pathlib import Path

import made_campaigns
import pytest
from cli_runner import run
from made_campaigns import noisy

from runoff.campaign.directory import read_results
from runoff.campaign.journal.journal import Journal
from runoff.campaign.machines.members import write_members
from runoff.errors import UsageError
from runoff.plan.order import Cell

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the campaign of a machine with an id of its own; ``values`` are drawn by its name unless they are given."""

    def made(name: str, values: made_campaigns.Values | None = None, **settings: object) -> Path:
        monkeypatch.setattr(made_campaigns, "MACHINE_ID", f"id of {name}")
        drawn = noisy(0, -0.03, sd=0.002, seed=sum(map(ord, name)))
        return made_campaigns.made(tmp_path / name, values or drawn, **settings)

    return made


def refuse(*places: Path, out: Path) -> str:
    told = run("merge", *places, "--out", out, expect=64).stderr
    assert told.count("\n") == 1
    return told


@pytest.mark.parametrize("seeds", [(1, 1), (1, 2)])
def test_under_the_virtual_clock_machines_are_not_evidence(make: Make, tmp_path: Path, seeds: tuple[int, int]):
    places = [
        make(name, noisy(0, 0.03, seed=seed), clock="virtual", seed=seed)
        for name, seed in zip(("a", "b"), seeds, strict=True)
    ]
    told = refuse(*places, out=tmp_path / "all")
    assert "under the virtual clock the machine is not a factor" in told
    assert "runoff resume DIR --blocks N" in told
    assert not (tmp_path / "all").exists()


def test_samples_that_are_equal_throughout_are_copies(make: Make, tmp_path: Path):
    places = [make(name, noisy(0, 0.03)) for name in ("a", "b")]
    told = refuse(make("c"), *places, out=tmp_path / "all")
    assert "a and b have 10 of 10 blocks in common, equal to the last digit" in told
    assert not (tmp_path / "all").exists()


def test_another_seed_and_order_of_blocks_does_not_hide_a_copy(make: Make, tmp_path: Path):
    def shift(cell: Cell) -> dict[str, float]:
        return {"time_s": 10.0 + ((cell.block + 3) % 10) / 7 + cell.arm / 9}

    def plain(cell: Cell) -> dict[str, float]:
        return {"time_s": 10.0 + cell.block / 7 + cell.arm / 9}

    told = refuse(make("a", plain, seed=1), make("b", shift, seed=2), out=tmp_path / "all")
    assert "10 of 10 blocks in common" in told


def test_some_copied_blocks_among_others_are_found(make: Make, tmp_path: Path):
    ours, theirs = noisy(0, 0.03, seed=1), noisy(0, 0.03, seed=2)
    mixed = make("b", lambda cell: (ours if cell.block < 2 else theirs)(cell), blocks=6)
    assert "a and b have 2 of 6 blocks in common" in refuse(make("a", ours), mixed, out=tmp_path / "all")


def test_coarse_values_that_are_equal_by_chance_are_not_copies(make: Make, tmp_path: Path):
    def coarse(cell: Cell) -> dict[str, float]:
        return {"time_s": 10.0 + cell.block // 4 + cell.arm}

    own = make("b", lambda cell: coarse(cell) if cell.block < 9 else noisy(0, 0.03)(cell))
    other = make("a", lambda cell: coarse(cell) if cell.block < 8 else noisy(0, 0.03, seed=9)(cell))
    run("merge", own, other, "--out", tmp_path / "all")


def test_copies_that_were_merged_by_hand_have_no_verdict(make: Make, tmp_path: Path):
    places = [make(f"all/machines/{number}", noisy(0, 0.03)) for number in (1, 2)]
    rows = {}
    for number, place in enumerate(places):
        with Journal.open(place, write=False) as journal:
            rows[f"m{number}"] = journal.last_row
    write_members(tmp_path / "all", rows)
    with pytest.raises(UsageError, match="copies are not evidence of another machine"):
        read_results(tmp_path / "all")
    for words in (("report", tmp_path / "all"), ("gate", tmp_path / "all")):
        assert "copies are not evidence" in run(*words, expect=64).stderr


def go_on(place: Path, machine: str, hostname: str = "") -> None:
    """Let the last blocks of a campaign be of another machine."""
    with Journal.open(place, write=True) as journal:
        parts = [part.tables for part in journal.fact("parts")]
        taker = parts[0]["runoff"] | {"machine": machine, "hostname": hostname}
        journal.set_fact("parts", [*parts, parts[0] | {"runoff": taker}])


def test_a_campaign_of_two_machines_one_after_the_other_is_of_neither(make: Make, tmp_path: Path):
    here, both = make("here"), make("both")
    go_on(both, "id of another")
    told = refuse(here, both, out=tmp_path / "all")
    assert f"{both} was begun on one machine and gone on with on another" in told
    assert "take the plan anew on one of them, or leave it out" in told


def take_on_cluster(place: Path, nodes: dict[str, str]) -> None:
    """Let the blocks of a campaign be of the machines of a cluster in turn."""
    with Journal.open(place, write=True) as journal:
        tables = journal.fact("parts")[0].tables
        journal.set_fact(
            "parts",
            [
                tables | {"runoff": tables["runoff"] | {"machine": machine, "hostname": hostname}}
                for hostname, machine in nodes.items()
            ],
        )


@pytest.fixture
def on_cluster(make: Make, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign whose odd blocks are of south and whose even ones are of north."""
    add = Journal.add

    def alternate(journal: Journal, cell: Cell, *words: object, **more: object) -> None:
        add(journal, cell, *words, **more, part=cell.block % 2)

    monkeypatch.setattr(Journal, "add", alternate)
    place = make("cluster")
    monkeypatch.setattr(Journal, "add", add)
    take_on_cluster(place, {"north": "id of north", "south": "id of south"})
    return place


def test_the_machines_of_a_cluster_are_told_apart(on_cluster: Path, make: Make, tmp_path: Path):
    run("merge", on_cluster, make("laptop"), "--out", tmp_path / "all")
    results = read_results(tmp_path / "all")
    assert results.machines == ("cluster: north", "cluster: south", "laptop")
    assert {sample.machine for sample in results.samples} == set(results.machines)
    assert set(results.fingerprint["machines"]) == set(results.machines)
    assert "Over 3 machines" in run("report", tmp_path / "all").stdout


def test_a_machine_of_a_cluster_is_refused_beside_its_own_campaign(on_cluster: Path, make: Make, tmp_path: Path):
    told = refuse(make("south"), on_cluster, out=tmp_path / "all")
    assert "are of the same machine: give each machine once" in told


def test_a_machine_is_added_to_a_merged_campaign(make: Make, tmp_path: Path):
    first = tmp_path / "first"
    run("merge", make("a"), make("b"), "--out", first)
    told = run("merge", first, make("c"), "--out", tmp_path / "more").stdout
    assert "Over 3 machines" in told
    assert read_results(tmp_path / "more").machines == ("a", "b", "c")
    assert sorted(path.name for path in (tmp_path / "more/machines").iterdir()) == ["1", "2", "3"]
    run("merge", tmp_path / "more", "--out", tmp_path / "copy")
    assert read_results(tmp_path / "copy").machines == ("a", "b", "c")


def test_what_is_refused_of_campaigns_is_refused_of_merged_ones(make: Make, tmp_path: Path):
    first, again = tmp_path / "first", tmp_path / "again"
    here = make("here")
    run("merge", here, make("b"), "--out", first)
    assert "are the same campaign" in refuse(first, f"x={here}", out=again)
    assert "has a machine named b, and so has another" in refuse(first, f"b={make('c')}", out=again)
    assert "arms is default, bfs for here and default, cfs for d" in refuse(
        first, make("d", arms=("default", "cfs")), out=again
    )
    assert "has 7 of 20 samples" in refuse(first, make("e", stop_after=7), out=again)
    assert not again.exists()


@pytest.mark.parametrize("inside", ["a", "a/x", "a/x/y", "link/x", "a/../a/x", "dangling"])
def test_nothing_is_merged_into_what_is_merged(make: Make, tmp_path: Path, inside: str):
    a, b = make("a"), make("b")
    (tmp_path / "link").symlink_to(a)
    (tmp_path / "dangling").symlink_to(a / "new")
    before = sorted(a.rglob("*"))
    told = refuse(a, b, out=tmp_path / inside)
    assert f"is inside of {a}, which is to be merged: choose another --out" in told
    assert sorted(a.rglob("*")) == before


def test_a_merged_campaign_takes_no_other_inside(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = tmp_path / "first"
    run("merge", make("a"), make("b"), "--out", first)
    monkeypatch.chdir(first)
    told = run("merge", ".", make("c"), "--out", "machines/3", expect=64).stderr
    assert f"machines/3 is inside of {first}, which is to be merged" in told
    assert sorted(path.name for path in (first / "machines").iterdir()) == ["1", "2"]
