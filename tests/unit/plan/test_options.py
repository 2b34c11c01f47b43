"""How commands parse their options: the values, and which of them were given at all."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import report_examples as examples
from click.testing import CliRunner, Result

from runoff.cli.main import cli, main
from runoff.errors import MissingError, UsageError

COMPARE = ("compare", "default", "--work", "counters:n=1")


def runoff(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def planned(*words: str, start: tuple[str, ...] = COMPARE) -> dict[str, Any]:
    result = runoff(*start, *words, "--plan-only")
    assert result.exit_code == 0, result.output
    return tomllib.loads(result.stdout)


def test_what_is_left_out_has_the_plans_defaults() -> None:
    plan = planned()
    assert (plan["blocks"], plan["cpus"], plan["memory_mb"], plan["flush"]) == (10, 2, 1024, False)
    assert not {"margin", "rare", "names"} & set(plan)
    assert planned("--flush")["flush"] is True


@pytest.mark.parametrize(("option", "key"), [("--seed", "seed"), ("--warmup", "warmup")])
def test_nought_is_given_when_it_is_given(option: str, key: str) -> None:
    assert planned(option, "0")[key] == 0


@pytest.mark.parametrize(
    ("option", "key"), [("--blocks", "blocks"), ("--cpus", "cpus"), ("--memory", "memory_mb"), ("--disk", "disk_mb")]
)
def test_zero_is_refused_where_at_least_one_is_needed(option: str, key: str) -> None:
    result = runoff(*COMPARE, option, "0")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith(f"the command line: {key}: 0 is not at least ")


def test_a_seed_that_is_not_given_is_drawn_and_printed() -> None:
    drawn = [planned()["seed"] for _ in range(8)]
    assert all(1 <= seed <= 999_999 for seed in drawn)
    assert len(set(drawn)) > 1


def test_what_depends_on_the_machine_stays_open_in_a_printed_plan() -> None:
    assert not {"clock", "cpus"} & set(planned("--on", "host"))
    assert planned("--on", "host", "--cpus", "7")["cpus"] == 7
    assert planned("--clock", "virtual")["clock"] == "virtual"


def test_contest_on_the_host_has_jobs_for_the_cpus_that_are_there_or_given() -> None:
    here = len(os.sched_getaffinity(0))
    own = planned("--on", "host", "--load", "none", start=("contest", "default"))
    assert (own["workloads"], own["cpus"]) == ([f"compile:part=ext2fs,jobs={4 * here}"], here)
    given = planned("--on", "host", "--load", "none", "--cpus", "3", start=("contest", "default"))
    assert (given["workloads"], given["cpus"]) == (["compile:part=ext2fs,jobs=12"], 3)


@pytest.mark.parametrize("option", ["margin", "rare"])
@pytest.mark.parametrize(
    ("text", "share"),
    [("2%", 0.02), ("0.5%", 0.005), ("12.5 %", 0.125), ("0.02", 0.02), (".3", 0.3), ("3%", 0.03), ("0.07%", 0.0007)],
)
def test_a_share_is_written_in_percent_or_as_a_fraction(option: str, text: str, share: float) -> None:
    assert planned(f"--{option}", text)[option] == share
    assert planned(f"--{option}", text, start=("contest", "default"))[option] == share


@pytest.mark.parametrize(
    "text", ["two", "%", "-1%", "1e-2", "2%%", "nan", "inf", "", ".", "1.", "\N{ARABIC-INDIC DIGIT SIX}%"]
)
def test_a_word_that_is_not_a_share_is_refused(text: str) -> None:
    result = runoff(*COMPARE, f"--margin={text}")
    assert result.exit_code == 2
    assert "a share is written as 2% or as 0.02" in result.output


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--margin=0", "margin: 0.0 is not more than 0"),
        ("--margin=100%", "margin: 1.0 is not less than 1"),
        ("--rare=0%", "rare: 0.0 is not more than 0"),
        ("--rare=51%", "rare: 0.51 is not at most 0.5"),
    ],
)
def test_a_share_out_of_its_range_is_refused(option: str, sentence: str) -> None:
    result = runoff(*COMPARE, option, "--plan-only")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith(f"the command line: {sentence}")


def test_a_percent_without_its_sign_is_refused() -> None:
    result = runoff(*COMPARE, "--margin=2", "--plan-only")
    assert "2: it is more than the whole; 2 percent is written as 2%" in result.output + str(result.exception)


def test_a_plan_file_may_be_judged_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text('arms = ["default"]\nworkloads = ["counters:n=1"]\nmargin = 0.05\nseed = 7\n')
    plan = planned("--rare", "5%", start=("run", str(path)))
    assert (plan["margin"], plan["rare"], plan["seed"]) == (0.05, 0.05, 7)
    assert planned("--margin", "1%", start=("run", str(path)))["margin"] == 0.01


def test_names_stand_where_they_are_said_or_else_behind() -> None:
    named = planned("-n", "fast=bfs:rr_interval_ms=3", "--name", "b=default", "fast", "bfs")
    assert named["arms"] == ["default", "fast", "bfs", "b"]
    assert named["names"] == {"fast": "bfs:rr_interval_ms=3", "b": "default"}
    only = ("compare", "--work", "counters:n=1", "-n", "a=default", "-n", "b=default")
    assert planned(start=only)["arms"] == ["a", "b"]


@pytest.mark.parametrize("text", ["fast", "=bfs", "fast=", "="])
def test_a_word_that_is_not_the_name_of_an_arm_is_refused(text: str) -> None:
    result = runoff(*COMPARE, "-n", text)
    assert result.exit_code == 2
    assert "a name and an arm must be given, e.g. fast=bfs:rr_interval_ms=3" in result.output


def test_a_name_is_given_once() -> None:
    result = runoff(*COMPARE, "-n", "a=bfs", "-n", "a=o1")
    assert result.exit_code == 2
    assert "'a' is given twice" in result.output


def test_without_an_arm_nothing_is_compared() -> None:
    result = runoff("compare", "--work", "counters:n=1")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == "no arm is given: name what is to be compared, e.g. default bfs"


def test_given_options_replace_contests_own_defaults() -> None:
    assert planned(start=("contest", "default"))["memory_mb"] == 256
    assert planned("--memory", "512", "--seed", "0", start=("contest", "default"))["memory_mb"] == 512


def test_a_load_has_its_number_of_blocks() -> None:
    loads = ("--load", "io", "--load", "io:size_mb=3", "--load", "none")
    counts = ("--load-blocks", "io=2", "--load-blocks", "io:size_mb=3=1")
    assert planned(*loads, *counts)["load_blocks"] == {"io": 2, "io:size_mb=3": 1}


@pytest.mark.parametrize("text", ["io", "io=", "=3", "io=many", "io=-1", "io=1.5", "io=\N{SUPERSCRIPT TWO}"])
def test_a_word_that_is_not_a_number_of_blocks_is_refused(text: str) -> None:
    result = runoff(*COMPARE, "--load", "io", "--load-blocks", text)
    assert result.exit_code == 2
    assert "a load and a number must be given, e.g. io=4" in result.output


def test_one_load_has_one_number_of_blocks() -> None:
    result = runoff(*COMPARE, "--load", "io", "--load-blocks", "io=1", "--load-blocks", "io=2")
    assert result.exit_code == 2
    assert "'io' is given twice" in result.output


@pytest.mark.parametrize("option", ["--html", "--csv"])
def test_a_file_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str) -> None:
    examples.stand_in(monkeypatch, lambda _: examples.three_arms())
    result = runoff("report", tmp_path, option, tmp_path / "nowhere" / "file")
    assert isinstance(result.exception, MissingError)
    assert str(tmp_path / "nowhere" / "file") in str(result.exception)
    assert "No such file or directory" in str(result.exception)


def test_a_written_file_replaces_the_old_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    examples.stand_in(monkeypatch, lambda _: examples.three_arms())
    page, table = tmp_path / "page.html", tmp_path / "table.csv"
    page.write_text("of yesterday")
    result = runoff("report", tmp_path, "--html", page, "--csv", table)
    assert (result.exit_code, result.output) == (0, "")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert table.read_text(encoding="utf-8").startswith("id,engine,")
    assert sorted(tmp_path.iterdir()) == [page, table]


def test_an_option_that_is_none_has_the_exit_code_of_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["runoff", *COMPARE, "--load-blocks", "io"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 64
