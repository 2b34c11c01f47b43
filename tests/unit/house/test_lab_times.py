"""How long a sample takes in the lab is the same on every page and in the list."""

import json
import re

import pytest
from checkout import ROOT
from click.testing import CliRunner

from runoff.cli.main import cli
from runoff.workloads import WORKLOADS
from runoff.workloads.lab_times import LAB_SAMPLE_S, describe_lab_time

PAGES = ROOT / "docs/workloads"
NAMES = sorted(set(WORKLOADS.names()) - {"command"})


def test_each_workload_but_any_command_has_a_time() -> None:
    assert sorted(LAB_SAMPLE_S) == NAMES


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, ""), (2.4, "2 s"), (31.4, "30 s"), (59.0, "60 s"), (60.0, "1 min"), (579.0, "10 min"), (3000.0, "50 min")],
)
def test_a_time_has_one_digit(seconds: float | None, told: str) -> None:
    assert describe_lab_time(seconds) == told


@pytest.mark.parametrize("name", NAMES)
def test_the_page_and_the_table_say_it(name: str) -> None:
    told = describe_lab_time(LAB_SAMPLE_S[name])
    said = re.findall(r"such a sample takes \[about (.*?)\]\(", (PAGES / f"{name}.md").read_text())
    assert said == [told]
    (row,) = re.findall(rf"^\| \[{name}\]\(.*$", (PAGES / "README.md").read_text(), re.MULTILINE)
    assert row.endswith(f" | {told} |")


def test_the_list_says_it() -> None:
    listed = CliRunner().invoke(cli, ["list", "workloads"])
    lines = {line.split()[0]: line for line in listed.stdout.splitlines()}
    for name in NAMES:
        assert f"  {describe_lab_time(LAB_SAMPLE_S[name])}  " in lines[name]
    assert "virtual clock, 2 CPUs" in listed.stderr
    entries = json.loads(CliRunner().invoke(cli, ["list", "workloads", "--json"]).stdout)
    assert {entry["name"]: entry["lab_sample_s"] for entry in entries} == {"command": None} | LAB_SAMPLE_S


def test_one_of_the_list_says_it() -> None:
    assert "takes about 4 s in the lab" in CliRunner().invoke(cli, ["list", "workloads", "hackbench"]).stdout
    assert "in the lab" not in CliRunner().invoke(cli, ["list", "workloads", "command"]).stdout
    assert "in the lab" not in CliRunner().invoke(cli, ["list", "loads"]).output
