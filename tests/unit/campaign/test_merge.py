"""Campaigns of several machines as one: what is joined, what is refused, and that the result is complete in itself."""

import json
import re
import shutil
from pathlib import Path

import made_campaigns
import pytest
from checkout import ROOT
from cli_runner import run
from jsonschema import validate

from runoff.analysis.build import build_report
from runoff.campaign.directory import read_results
from runoff.campaign.journal.journal import Journal
from runoff.campaign.merge import merge, name_machines
from runoff.decide.gate import judge as gate
from runoff.errors import UsageError

CHANGES = {"laptop": -0.03, "server": -0.05, "board": -0.04}
MEANS = {"laptop": 10.0, "server": 2.0, "board": 300.0}


@pytest.fixture
def campaigns(tmp_path: Path) -> dict[str, Path]:
    """Three machines, on which bfs is 3, 5 and 4 % faster; their noise is small."""
    return {
        name: made_campaigns.made(
            tmp_path / "taken" / name,
            made_campaigns.noisy(0, change, sd=0.002, mean=MEANS[name], seed=number),
            seed=number + 1,
            blocks=4 + number,
        )
        for number, (name, change) in enumerate(CHANGES.items())
    }


def join(campaigns: dict[str, Path], out: Path) -> Path:
    run("merge", *campaigns.values(), "--out", out)
    return out


def test_all_samples_are_there_and_no_block_is_of_two_machines(campaigns: dict[str, Path], tmp_path: Path):
    results = merge(campaigns, tmp_path / "all")
    assert results.machines == ("laptop", "server", "board")
    assert (results.blocks, len(results.samples), results.planned) == (4 + 5 + 6, 30, 30)
    assert len({sample.id for sample in results.samples}) == 30
    assert len({sample.position for sample in results.samples}) == 30
    machine_of = {sample.block: sample.machine for sample in results.samples}
    assert all(machine_of[sample.block] == sample.machine for sample in results.samples)
    own = {name: read_results(place) for name, place in campaigns.items()}
    for name, each in own.items():
        assert [s.metrics for s in results.samples if s.machine == name] == [s.metrics for s in each.samples]


def test_the_report_needs_nothing_else(campaigns: dict[str, Path], tmp_path: Path):
    out = join(campaigns, tmp_path / "all")
    before = run("report", out, "--mail").stdout
    shutil.rmtree(tmp_path / "taken")
    moved = out.rename(tmp_path / "elsewhere")
    assert run("report", moved, "--mail").stdout == before
    assert f"page: {moved}/report.html\n" in run("report", moved).stdout
    said = " ".join(before.split())
    assert "Over 3 machines: hackbench, time to pass all messages: bfs (-4.1 %) is better than default" in said
    assert "bfs: better on 3 of 3 machines (laptop, server and board)" in said
    assert (moved / "report.html").exists()


def test_every_form_knows_machines(campaigns: dict[str, Path], tmp_path: Path):
    out = join(campaigns, tmp_path / "all")
    document = json.loads(run("report", out, "--json").stdout)
    validate(document, json.loads((ROOT / "docs/schema/runoff.report.3.json").read_text()))
    assert document["machines"] == ["laptop", "server", "board"]
    table = document["tables"][0]
    assert set(table["machines"]) == {"laptop", "server", "board"}
    bfs = next(row for row in table["arms"] if row["arm"] == "bfs")["against_baseline"]
    assert (bfs["n"], bfs["between"]["machines"], bfs["between"]["better"]) == (15, 3, ["laptop", "server", "board"])
    assert re.search(r"\| bfs \| server \| 5 \| (1\.99|2\.00)\d* s \|", run("report", out, "--markdown").stdout)
    rows = run("report", out, "--csv", "-").stdout.splitlines()
    assert rows[0].startswith("machine,id,engine")
    assert {row.split(",")[0] for row in rows[1:]} == {"laptop", "server", "board"}
    page = (out / "report.html").read_text()
    assert page.count(">server<") >= 2


def test_the_table_of_machines_is_laid_out_as_graysky_did(campaigns: dict[str, Path], tmp_path: Path):
    lines = run("report", join(campaigns, tmp_path / "all"), "--table", "machines").stdout.splitlines()
    assert lines[4].split() == ["CPU", "Average", "Time", "(sec)", "bfs", "is..."]
    assert lines[5].split() == ["default", "bfs", "Difference", "Result"]
    assert [line.split()[0] for line in lines[6:9]] == ["laptop", "server", "board"]
    assert lines[7].endswith("% faster")
    assert float(lines[7].split()[1]) == pytest.approx(2.0, rel=0.01)


def test_machines_are_named_by_the_directory_or_by_the_user(campaigns: dict[str, Path], tmp_path: Path):
    one, two, _ = campaigns.values()
    out = tmp_path / "all"
    run("merge", f"old={one}", two, "--out", out)
    assert read_results(out).machines == ("old", "server")
    assert (
        "every machine needs a name of its own" in run("merge", f"a={one}", f"a={two}", "--out", "x", expect=64).stderr
    )
    assert list(name_machines([Path("/r/a/run"), Path("/r/b/run")])) == ["a/run", "b/run"]


def test_the_errors_of_a_gate_are_those_of_so_many_machines(
    campaigns: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen = []
    monkeypatch.setattr(gate, "estimate_risk", lambda inputs, _correlation: seen.extend(inputs))
    gate.judge(build_report(merge(campaigns, tmp_path / "all")), 0.02)
    (risk,) = seen
    assert (risk.overall.df, len(risk.machines)) == (2, 3)
    assert all(own.critical_joint > own.critical for own in risk.machines)


def test_commands_for_one_machine_say_so(campaigns: dict[str, Path], tmp_path: Path):
    out = join(campaigns, tmp_path / "all")
    assert "blocks are planned for one machine" in run("blocks", out, expect=64).stderr
    assert "resume those where they were taken" in run("resume", out, expect=64).stderr


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"workloads": ("schbench",)}, "workloads is hackbench for laptop and schbench for other"),
        ({"arms": ("default", "cfs")}, "arms is default, bfs for laptop and default, cfs for other"),
        ({"clock": "virtual"}, "clock is real for laptop and virtual for other"),
        ({"on": "host"}, "engine is lab for laptop and host for other"),
        ({"cpus": 8}, "cpus is 2 for laptop and 8 for other"),
        ({"margin": 0.01}, "margin is None for laptop and 0.01 for other"),
    ],
)
def test_plans_that_differ_are_refused_with_the_difference(
    changed: dict[str, object], sentence: str, campaigns: dict[str, Path], tmp_path: Path
):
    other = made_campaigns.made(tmp_path / "other", made_campaigns.noisy(0, 0.1), **changed)
    refused = run("merge", campaigns["laptop"], other, "--out", tmp_path / "all", expect=64).stderr
    assert sentence in refused
    assert not (tmp_path / "all").exists()


def test_the_same_campaign_or_machine_twice_is_refused(
    campaigns: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    copy = tmp_path / "copy"
    shutil.copytree(campaigns["laptop"], copy)
    refused = run("merge", campaigns["laptop"], copy, "--out", tmp_path / "all", expect=64).stderr
    assert "are the same campaign" in refused
    monkeypatch.setattr(made_campaigns, "MACHINE_ID", "0123456789abcdef")
    twice = [made_campaigns.made(tmp_path / name, made_campaigns.noisy(0, 0.1), seed=s) for s, name in enumerate("xy")]
    refused = run("merge", *twice, "--out", tmp_path / "all", expect=64).stderr
    assert (
        "are of the same machine: give each machine once; more blocks on one machine are added to its campaign"
        in refused
    )
    assert "is given twice" in run("merge", copy, copy, "--out", tmp_path / "all", expect=64).stderr


def test_an_unfinished_campaign_is_refused(campaigns: dict[str, Path], tmp_path: Path):
    short = made_campaigns.made(tmp_path / "short", made_campaigns.noisy(0, 0.1), stop_after=7)
    refused = run("merge", campaigns["laptop"], short, "--out", tmp_path / "all", expect=64).stderr
    assert "has 7 of 20 samples: finish it first: runoff resume" in refused


@pytest.mark.parametrize("out", ["/proc/none/all", "taken"])
def test_a_place_that_cannot_be_is_named(campaigns: dict[str, Path], tmp_path: Path, out: str):
    place = tmp_path / out
    refused = run("merge", *campaigns.values(), "--out", place, expect=64 if out == "taken" else 69).stderr
    assert f"{place if out == 'taken' else place.parent}" in refused
    assert "choose another --out" in refused


def test_a_machine_that_was_changed_afterwards_is_found(campaigns: dict[str, Path], tmp_path: Path):
    out = join(campaigns, tmp_path / "all")
    member = out / "machines/2"
    with Journal.open(member, write=True) as journal:
        journal.set_fact("warnings", ["another"])
    with pytest.raises(UsageError, match="is not the campaign of server that was merged"):
        read_results(out)
    (out / "merged.json").write_text("{}")
    with pytest.raises(UsageError, match=r"merged.json is damaged"):
        read_results(out)


def test_only_what_differs_between_machines_is_told_of_each(campaigns: dict[str, Path], tmp_path: Path):
    for name in ("laptop", "server"):
        with Journal.open(campaigns[name], write=True) as journal:
            journal.set_fact("warnings", ["the clock is emulated", *(["it was hot"] if name == "server" else [])])
    with Journal.open(campaigns["board"], write=True) as journal:
        journal.set_fact("warnings", ["the clock is emulated"])
    assert merge(campaigns, tmp_path / "all").warnings == ("the clock is emulated", "server: it was hot")
