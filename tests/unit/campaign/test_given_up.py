"""Blocks whose machine of a cluster never comes back: what they lack is void once the user says so."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from made_campaigns import MACHINE, add, made, noisy
from strangers import runoff

from runoff.analysis import build
from runoff.campaign.directory import read_results, reopen
from runoff.campaign.given_up import give_up
from runoff.campaign.journal.journal import Journal
from runoff.campaign.origin.parts import find_machines
from runoff.cli.main import cli
from runoff.decide.stopping import look

VALUES = noisy(0, -0.03)
REASON = "block 4 was given up: its machine, north, is gone"
UNTIL = {"until": 0.01, "most_blocks": 10, "rare": 0.3, "blocks": 5}


def make_part(hostname: str) -> dict[str, Any]:
    taker = {"version": "0.1.0", "engine": "lab", "clock": "real", "machine": f"id of {hostname}", "hostname": hostname}
    arms = {label: {"scheduler": label} for label in ("default", "bfs")}
    return {"machine": MACHINE, "arms": arms, "runoff": taker}


def make(place: Path, *, lacking: Sequence[int] = (7,), machines: Sequence[str] = ("north",), **settings: Any) -> Path:
    """A campaign of ten blocks on a cluster, without the samples at these places of the run order."""
    made(place, VALUES, stop_after=0, **settings)
    plan, journal = reopen(place)
    with journal:
        if machines:
            journal.set_fact("parts", [make_part(name) for name in machines])
        for number in range(plan.planned):
            if number not in lacking:
                add(journal, plan, VALUES, range(number, number + 1))
    return place


def read_voids(place: Path) -> dict[str, str | None]:
    return {sample.id: sample.reason for sample in read_results(place).samples if not sample.valid}


def test_what_the_block_lacks_is_void_with_the_reason(tmp_path: Path) -> None:
    place = make(tmp_path / "c")
    before = read_results(place).samples
    done = CliRunner().invoke(cli, ["resume", str(place), "--give-up", "4", "--json"], standalone_mode=False)
    assert done.exception is None
    (void,) = [sample for sample in json.loads(done.stdout)["samples"] if not sample["valid"]]
    assert (void["block"], void["reason"]) == (3, REASON)
    assert f"{REASON}; samples that are void because of it: 1" in done.stderr
    results = read_results(place)
    assert len(results.samples) == results.planned == 20
    assert tuple(sample for sample in results.samples if sample.valid) == before
    (table,) = build.build_report(results).headline
    assert table.analysis.comparisons["bfs"].n == 9


def test_a_void_is_counted_for_the_machine_that_is_gone(tmp_path: Path) -> None:
    place = make(tmp_path / "c", lacking=(6, 7, 8), machines=("north", "south"))
    plan, journal = reopen(place)
    with journal:
        add(journal, plan, VALUES, range(6, 7))
        (last,) = [row for row in journal.rows() if row.position == 6]
        assert last.part == 0
    assert runoff("resume", place, "--give-up", "4", "--give-up", "5", "--give-up", "4").returncode == 0
    with Journal.open(place, write=False) as journal:
        assert {(row.position, row.part) for row in journal.rows() if not row.valid} == {(7, 0), (8, 0)}


@pytest.mark.parametrize(
    ("words", "lacking", "code", "told"),
    [
        (["11"], (7,), 64, "--give-up 11: the last block is 10: give the number of a block that was begun"),
        (["3"], (7,), 64, "--give-up 3: the block is whole: leave the option out"),
        (["4", "--give-up", "3"], (7,), 64, "--give-up 3: the block is whole: leave the option out"),
        (["4"], (6, 7), 64, "--give-up 4: the block was not begun, and any machine takes it, so leave it out: "),
        (["4", "--blocks", "20"], (7,), 64, "--give-up and --blocks: give one at a time, --give-up first"),
        (["4", "-j", "2"], (7,), 64, "samples side by side would disturb each other"),
        (["4", "--cluster", "nonsense"], (7,), 69, "--cluster nonsense: No such file"),
    ],
)  # fmt: skip
def test_what_waits_for_no_machine_is_refused_and_nothing_changes(
    tmp_path: Path, words: Sequence[str], lacking: Sequence[int], code: int, told: str
) -> None:
    place = make(tmp_path / "c", lacking=lacking)
    before = (place / "journal.sqlite").read_bytes()
    done = runoff("resume", place, "--give-up", *words)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert told in done.stderr
    assert (place / "journal.sqlite").read_bytes() == before


def test_a_block_that_a_single_machine_took_waits_for_none(tmp_path: Path) -> None:
    done = runoff("resume", make(tmp_path / "c", machines=()), "--give-up", "4")
    assert done.returncode == 64
    assert "--give-up 4: the block was not begun on a cluster, whose machines may be gone" in done.stderr


def test_under_the_virtual_clock_any_machine_takes_the_rest(tmp_path: Path) -> None:
    place = make(tmp_path / "c", machines=(), clock="virtual")
    done = runoff("resume", place, "--give-up", "4")
    assert done.returncode == 64
    assert (
        "under the virtual clock any machine takes the rest of a block, so leave it out: runoff resume" in done.stderr
    )
    assert read_voids(place) == {}


def test_a_campaign_that_has_ended_waits_for_none(tmp_path: Path) -> None:
    place = make(tmp_path / "c", lacking=range(10, 20), **UNTIL)
    with Journal.open(place, write=True) as journal:
        journal.set_fact("ended", {"blocks": 5, "why": "x", "decided": True})
    done = runoff("resume", place, "--give-up", "6")
    assert (done.returncode, "has ended, and waits for no machine" in done.stderr) == (64, True), done.stderr
    assert runoff("resume", place).returncode == 0


def test_while_another_process_writes_it_is_refused(tmp_path: Path) -> None:
    place = make(tmp_path / "c")
    with Journal.open(place, write=True):
        done = runoff("resume", place, "--give-up", "4")
    assert (done.returncode, "another runoff is working in" in done.stderr) == (64, True)
    assert read_voids(place) == {}


def test_a_look_counts_the_block_and_not_its_voids(tmp_path: Path) -> None:
    """A campaign that goes on until all is decided is not kept from its end."""
    place = make(tmp_path / "c", lacking=(7, *range(10, 20)), **UNTIL)
    plan, journal = reopen(place)
    with journal:
        assert list(give_up(plan, journal, [4])) == [f"{REASON}; samples that are void because of it: 1"]
    found = look(read_results(place), 5, 10)
    assert found.blocks == 5
    assert list(read_voids(place).values()) == [REASON]


def test_machines_of_a_cluster_are_gone_on_with_on_a_cluster(tmp_path: Path) -> None:
    place = make(tmp_path / "c", lacking=(7, 19))
    done = runoff("resume", place)
    assert done.returncode == 64
    assert (
        f"go on with a cluster's ADDRESS (local:1 is this machine): runoff resume {place} --cluster ADDRESS"
        in done.stderr
    )
    assert runoff("resume", place, "--give-up", "4").returncode == 64
    assert read_voids(place) == {}
    assert runoff("resume", place, "--give-up", "4", "--give-up", "10").returncode == 0
    assert len(read_voids(place)) == 2


def test_a_void_sample_that_no_machine_answered_for_begins_no_block(tmp_path: Path) -> None:
    place = made(tmp_path / "c", lambda cell: None if cell.block == 1 else VALUES(cell), stop_after=3)
    with Journal.open(place, write=False) as journal:
        assert list(find_machines(journal)) == [0]
