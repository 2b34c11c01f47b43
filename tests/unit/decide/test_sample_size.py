"""``runoff blocks``: from a pilot or kept noise to numbers of blocks."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from cli_runner import ask
from click.testing import CliRunner
from made_campaigns import alternating, made, noisy

from runoff.campaign.directory import read_results
from runoff.cli.blocks import command
from runoff.cli.main import cli
from runoff.cli.noise import command as noise
from runoff.decide.sample_size import collect_from_campaign, collect_from_noise, find_noise
from runoff.errors import UsageError
from runoff.plan.order import Cell
from runoff.statistics.planning import blocks_for_same, blocks_to_detect


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


SD = 0.02 * math.sqrt(10 / 9)


def found(document: dict[str, Any], asked: str, chance: float) -> dict[str, Any]:
    (one,) = [a for a in document["comparisons"][0]["answers"] if (a["asked"], a["chance"]) == (asked, chance)]
    return dict(one)


@pytest.mark.parametrize("chance", [0.8, 0.9])
def test_the_blocks_are_those_of_the_pilots_noise(tmp_path, chance):
    document = json.loads(ask(command, made(tmp_path / "c", alternating), "--detect", "1%", "--json").output)
    shown, alike = found(document, "difference", chance), found(document, "same", chance)
    expected = blocks_to_detect(math.log(1.01), SD, 9, chance)
    assert (shown["needed"], shown["low"], shown["high"]) == (expected.needed, expected.low, expected.high)
    assert alike["needed"] == blocks_for_same(math.log(1.02), SD, 9, chance).needed
    assert (shown["size"], alike["size"]) == (0.01, 0.02)
    assert shown["seconds"] == pytest.approx(4 * shown["needed"])


def test_it_answers_to_its_former_name(tmp_path):
    place = made(tmp_path / "c", alternating)
    asked = [CliRunner().invoke(cli, [word, str(place), "--json"]) for word in ("blocks", "plan")]
    assert asked[0].exit_code == asked[1].exit_code == 0
    assert asked[0].stdout == asked[1].stdout
    assert "  blocks  " in CliRunner().invoke(cli, ["--help"]).stdout
    assert "  plan  " not in CliRunner().invoke(cli, ["--help"]).stdout


def test_the_plans_margin_and_rare_events_are_asked_about(tmp_path):
    document = json.loads(ask(command, made(tmp_path / "c", alternating, margin=0.05, rare=0.5), "--json").output)
    assert found(document, "same", 0.8)["needed"] == blocks_for_same(math.log(1.05), SD, 9, 0.8, rare=0.5).needed
    assert found(document, "difference", 0.8)["size"] == 0.05
    options = ("--margin", "1%", "--rare", "5%", "--json")
    document = json.loads(ask(command, made(tmp_path / "d", alternating, margin=0.05, rare=0.5), *options).output)
    assert found(document, "same", 0.8)["needed"] == blocks_for_same(math.log(1.01), SD, 9, 0.8).needed


def test_kept_noise_answers_for_any_number_of_arms(tmp_path):
    twice = {"arms": ("a", "b"), "names": {"a": "default", "b": "default"}}
    ask(noise, "keep", made(tmp_path / "c", alternating, **twice))
    two = json.loads(ask(command, "--work", "hackbench", "--json").output)
    five = json.loads(
        ask(command, "--work", "hackbench", "--arms", "5", "--on", "lab", "--clock", "real", "--json").output
    )
    assert found(two, "difference", 0.8)["needed"] == blocks_to_detect(math.log(1.02), SD, 9, 0.8).needed
    assert found(five, "difference", 0.8)["needed"] == blocks_to_detect(math.log(1.02), SD, 9, 0.8, joint=4).needed
    assert found(five, "same", 0.8)["needed"] == blocks_for_same(math.log(1.02), SD, 9, 0.8, comparisons=4).needed
    assert found(five, "difference", 0.8)["seconds"] == pytest.approx(10 * found(five, "difference", 0.8)["needed"])
    for option in (("--on", "host"), ("--clock", "virtual")):
        with pytest.raises(UsageError, match="but of hackbench"):
            ask(command, "--work", "hackbench", *option)


def test_all_comparisons_together_need_the_blocks_of_the_hardest(tmp_path):
    def values(cell: Cell) -> dict[str, float]:
        return {
            "wakeup_p99_us": noisy(0, 0, sd=0.002)(cell)["time_s"],
            "request_p99_us": noisy(0, 0, sd=0.03, seed=2)(cell)["time_s"],
        }

    place = made(tmp_path / "c", values, workloads=("schbench",))
    text = ask(command, place).output
    needed = [
        answer["needed"]
        for each in json.loads(ask(command, place, "--json").output)["comparisons"]
        for answer in each["answers"]
        if (answer["asked"], answer["chance"]) == ("difference", 0.9)
    ]
    (last,) = [line for line in text.partition("all of them")[2].splitlines() if "shows" in line and "90 %" in line]
    assert f"{max(needed)} blocks" in last
    assert max(map(len, text.splitlines())) <= 80


def test_an_arm_without_blocks_is_named(tmp_path):
    def values(cell: Cell) -> Mapping[str, float] | None:
        return None if cell.arm == 2 else alternating(cell)

    place = made(tmp_path / "c", values, arms=("default", "bfs", "o1"))
    text = " ".join(ask(command, place).output.split())
    assert "o1: shares fewer than two blocks with the baseline, so its noise is unknown" in text
    known, unknown = json.loads(ask(command, place, "--json").output)["comparisons"]
    assert (known["df"], unknown["sd"], unknown["df"]) == (9, None, 0)


def test_a_metric_without_percent_cannot_be_asked(tmp_path):
    answer = ask(command, made(tmp_path / "c", lambda cell: {"time_s": float(cell.position % 3)}))
    assert answer.return_value == 2
    assert "nothing can be asked in percent" in " ".join(answer.output.split())


@pytest.mark.parametrize("blocks", [1, 2])
def test_hardly_any_blocks(tmp_path, blocks):
    place = made(tmp_path / "c", noisy(0.0, 0.0), blocks=blocks)
    if blocks == 1:
        with pytest.raises(UsageError, match="noise is unknown"):
            ask(command, place)
    else:
        assert ".." in ask(command, place).output


def test_one_arm_has_no_differences(tmp_path):
    with pytest.raises(UsageError, match="only arm"):
        ask(command, made(tmp_path / "c", noisy(0.0), arms=("default",)))


def test_a_constant_metric_is_left_out(tmp_path):
    """ "6 blocks" was the answer to equal values, and to samples and their copies."""
    place = made(tmp_path / "c", lambda cell: {"time_s": 10.0})
    assert json.loads(ask(command, place, "--json").output)["comparisons"][0]["answers"] == []
    assert "no difference varies, so the noise is less than the digits show" in " ".join(
        ask(command, place).output.split()
    )


@pytest.mark.parametrize("option", ["--detect", "--margin", "--rare"])
@pytest.mark.parametrize("value", ["0", "0%", "100%", "700%"])
def test_shares_that_are_none_are_refused(tmp_path, option, value):
    with pytest.raises(UsageError, match=f"{option} .* above 0 % and below 100 %"):
        ask(command, made(tmp_path / "c", alternating), option, value)


@pytest.mark.parametrize("option", ["--detect", "--margin", "--rare"])
def test_a_percent_without_its_sign_is_refused(tmp_path, option):
    with pytest.raises(click.BadParameter, match="7 percent is written as 7%"):
        ask(command, made(tmp_path / "c", alternating), option, "7")


def test_one_source_is_to_be_named(tmp_path):
    for arguments in ((), (tmp_path, "--work", "hackbench")):
        with pytest.raises(UsageError, match="one of the two"):
            ask(command, *arguments)
    with pytest.raises(UsageError, match="are for kept noise"):
        ask(command, made(tmp_path / "c", alternating), "--arms", "3")
    with pytest.raises(UsageError, match="is kept: measure it"):
        ask(command, "--work", "hackbench")


def two_tables(cell: Cell) -> dict[str, float]:
    return dict.fromkeys(("wakeup_p99_us", "request_p99_us"), alternating(cell)["time_s"])


def test_a_difference_needs_blocks_for_all_tables_and_same_for_its_own(tmp_path):
    place = made(tmp_path / "c", two_tables, arms=("default", "bfs", "o1"), workloads=("schbench",))
    sources = [source for source in collect_from_campaign(read_results(place)) if source.arm == "bfs"]
    assert [(source.comparisons, source.joint) for source in sources] == [(2, 4), (2, 4)]
    document = json.loads(ask(command, place, "--json").output)
    sd, df = sources[0].sd, sources[0].df
    assert found(document, "difference", 0.8)["needed"] == blocks_to_detect(math.log(1.02), sd, df, 0.8, joint=4).needed
    assert found(document, "same", 0.8)["needed"] == blocks_for_same(math.log(1.02), sd, df, 0.8, comparisons=2).needed


def test_kept_noise_of_two_tables_counts_both(tmp_path):
    twice = {"arms": ("a", "b"), "names": {"a": "default", "b": "default"}}
    ask(noise, "keep", made(tmp_path / "c", two_tables, workloads=("schbench",), **twice))
    sources = collect_from_noise(find_noise(["schbench"], None, None), 3)
    assert [(source.comparisons, source.joint) for source in sources] == [(2, 4), (2, 4)]
