"""Plans from values and files, and what they refuse."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from runoff.campaign.directory import plan_text, rerun_command
from runoff.errors import UsageError
from runoff.plan import make_plan, parse_settings, read_settings

VALUES: dict[str, Any] = {"arms": ["default", "bfs"], "workloads": ["counters:n=1..2"], "blocks": 3}


def schedulers() -> dict[str, Any]:
    return {"bfs": {"parameters": []}}


def test_a_plan_counts_its_samples() -> None:
    assert make_plan(parse_settings(VALUES, "test"), schedulers).planned == 2 * 2 * 3


def test_the_printed_plan_reads_back_as_the_same_plan(tmp_path: Path) -> None:
    settings = parse_settings({**VALUES, "kernel": "debian", "arms": ["default", 'exec:a "b" -k']}, "test")
    path = tmp_path / "plan.toml"
    path.write_text(plan_text(settings))
    assert read_settings(path) == settings
    assert tomllib.loads(path.read_text())["blocks"] == 3


def test_the_rerun_command_names_arms_work_and_seed() -> None:
    command = rerun_command(parse_settings({**VALUES, "seed": 42}, "test"))
    assert command.startswith("runoff compare default bfs --work counters:n=1..2 ")
    assert command.endswith("--blocks 3 --seed 42")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"blocks": 0}, "the file: blocks: Input should be greater than or equal to 1"),
        ({"arms": []}, "the file: arms"),
        ({"on": "moon"}, "the file: on: Input should be 'host' or 'lab'"),
        ({"block": 3}, "the file: block: Extra inputs are not permitted"),
        ({"memory_mb": 1}, "the file: memory_mb"),
    ],
)
def test_wrong_settings_name_origin_and_key(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings({**VALUES, **change}, "the file")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"clock": "virtual", "cpus": 2}, "--cpus 1"),
        ({"clock": "virtual", "cpus": 1, "on": "host"}, "only in the lab"),
        ({"arms": ["default", "default"]}, "arm 'default' is given twice"),
        ({"workloads": ["counters:n=1..2", "counters:n=2"]}, "workload 'counters:n=2' is given twice"),
        ({"on": "host", "arms": ["default@debian"]}, "has only the running one"),
        ({"on": "host", "kernel": "debian"}, "--kernel chooses the lab's kernel"),
    ],
)
def test_contradictions_are_explained(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(parse_settings({**VALUES, **change}, "test"), schedulers)
    assert sentence in str(caught.value)


def test_an_unreadable_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the plan .*no\.toml"):
        read_settings(tmp_path / "no.toml")
    path = tmp_path / "bad.toml"
    path.write_text("arms = [")
    with pytest.raises(UsageError, match=r"bad\.toml is not a plan"):
        read_settings(path)
