"""What is said over all machines never hides what is certain on one: every view, and the gate."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import made_campaigns
import pytest
from checkout import ROOT
from cli_runner import run
from jsonschema import validate
from made_campaigns import noisy

from runoff.plan.order import Cell

Merge = Callable[..., Path]
MOST = {f"s{number:02}": -0.01 for number in range(11)}
"""Machines on which the arm is a little better, within the margin."""
SLOW = {"odd": 0.07}


@pytest.fixture
def merge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Merge:
    """Merges machines with these changes of bfs; None is an arm that is always void there."""

    def merged(changes: Mapping[str, float | None], sd: float = 0.002, blocks: int = 6, **settings: object) -> Path:
        places = []
        for number, (name, change) in enumerate(changes.items()):
            monkeypatch.setattr(made_campaigns, "MACHINE_ID", f"id of {name}")
            drawn = noisy(0, change or 0.0, sd=sd, seed=number, mean=2.0 + number)

            def values(
                cell: Cell, drawn: made_campaigns.Values = drawn, change: float | None = change
            ) -> Mapping[str, float] | None:
                return None if change is None and cell.arm else drawn(cell)

            places.append(made_campaigns.made(tmp_path / name, values, seed=number + 1, blocks=blocks, **settings))
        run("merge", *places, "--out", tmp_path / "all")
        return tmp_path / "all"

    return merged


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("blocks", [3, 6])
def test_no_view_says_same_where_one_machine_is_certainly_worse(merge: Merge, blocks: int):
    out = merge(MOST | SLOW, blocks=blocks, sd=0.001)
    told = "Over 12 machines: hackbench, time to pass all messages: bfs is within 2 % of default but worse on odd."
    for words in ((), ("--mail",), ("--markdown",)):
        shown = flat(run("report", out, *words).stdout)
        assert told in shown
        assert "the same as default" not in shown
        assert "bfs: worse on 1 of 12 machines (odd)" in shown
    document = json.loads(run("report", out, "--json").stdout)
    validate(document, json.loads((ROOT / "docs/schema/runoff.report.3.json").read_text()))
    assert document["verdict"] == [told]
    bfs = next(row for row in document["tables"][0]["arms"] if row["arm"] == "bfs")
    assert (bfs["verdict"], bfs["against_baseline"]["within"]) == ("mixed", True)
    page = (out / "report.html").read_text()
    top = page.split("<h2>Headline metrics")[0]
    assert told in top
    assert "the change differs between machines: bfs" in flat(top)
    for picture in top.split('<figure class="forest">')[1].split("</svg>")[:2]:
        assert (picture.count(", mixed<"), picture.count(", worse<"), picture.count(", same<")) == (1, 1, 0)


def test_the_gate_is_not_fine_where_one_machine_is_beyond_the_limit(merge: Merge, tmp_path: Path):
    out = merge(MOST | SLOW)
    told = run("gate", out, "--junit", tmp_path / "junit.xml", expect=1).stdout
    assert flat(told).startswith("Regressed: worse than default by more than 2 %: bfs on hackbench on odd, time")
    assert "Fine" not in told
    found = json.loads(run("gate", out, "--json", expect=1).stdout)
    over_all, on_odd = found["comparisons"]
    assert (over_all["outcome"], on_odd["outcome"], on_odd["machine"]) == ("fine", "regressed", "odd")
    assert "machine" not in over_all
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()
    assert "| hackbench on odd, time" in run("gate", out, "--markdown", expect=1).stdout


def test_a_gate_that_no_machine_fails_says_that_it_asked_each(merge: Merge):
    told = flat(run("gate", merge(MOST)).stdout)
    assert "Fine: over 11 machines no headline metric is worse than with default by more than 2 %, and on none" in told


def test_a_gate_that_cannot_tell_asks_for_machines(merge: Merge):
    told = flat(run("gate", merge({"a": 0.0, "b": 0.01, "c": 0.019}), expect=2).stdout)
    assert "take more machines" in told
    assert "more blocks" not in told


def test_every_verdict_names_the_machines_that_are_another_way(merge: Merge):
    better = {f"s{number}": -0.10 - number / 100 for number in range(9)}
    shown = flat(run("report", merge(better | SLOW)).stdout)
    # Better over all, and certainly worse on one: machines disagree.
    assert "bfs is better on s0, s1, s2, s3, s4, s5 and 3 more and worse on odd than default." in shown


def test_an_unclear_arm_is_named_with_its_machines(merge: Merge):
    shown = flat(run("report", merge({"a": 0.001, "b": -0.001, "odd": 0.2})).stdout)
    assert "bfs cannot be told apart from default. But bfs is worse on odd." in shown


def test_several_tables_name_the_machines_too(merge: Merge):
    shown = flat(run("report", merge(MOST | SLOW, workloads=("hackbench", "hackbench:groups=2"))).stdout)
    assert "bfs is within 2 % of default but worse on odd in hackbench" in shown


def test_a_machine_without_a_valid_sample_is_named_and_not_counted(merge: Merge):
    out = merge({"a": -0.05, "b": -0.06, "c": -0.055, "dead": None})
    shown = flat(run("report", out).stdout)
    assert "Over 3 of 4 machines: hackbench" in shown
    assert "bfs: not counted, without a block that has valid samples of both: dead" in shown
    assert "void: bfs, hackbench, 6 blocks (19, 20, 21, 22, 23, 24) on dead: ejected" in shown
    assert "6 blocks (19, 20, 21, 22, 23, 24) on dead" in flat(run("gate", out, expect=2).stdout)


def test_signs_of_machines_are_those_that_the_sentence_counts(merge: Merge):
    """With 30 machines some are separated by themselves and not among all."""
    out = merge({f"m{number:02}": 0.0 for number in range(30)}, sd=0.02, blocks=4)
    document = json.loads(run("report", out, "--json").stdout)
    table = document["tables"][0]
    words = {name: next(r for r in rows if r["arm"] == "bfs") for name, rows in table["machines"].items()}
    between = next(row for row in table["arms"] if row["arm"] == "bfs")["against_baseline"]["between"]
    for side in ("better", "worse"):
        assert [name for name, row in words.items() if row["verdict"] == side] == between[side]
    assert any(row["against_baseline"]["separated"] and row["verdict"] == "unclear" for row in words.values())
    assert all(row["against_baseline"]["p_report"] >= row["against_baseline"]["p"] for row in words.values())
    assert "the interval of a ? may exclude 0" in flat(run("report", out).stdout)
