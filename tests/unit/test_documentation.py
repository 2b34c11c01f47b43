"""What the pages show must be accepted by the program they describe."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from runoff.cli.main import COMMANDS, cli
from runoff.engines.agent import find_agent
from runoff.errors import MissingError
from runoff.plan import Settings, make_plan, read_settings
from runoff.results import Metric
from runoff.workloads import LOADS, WORKLOADS, Definition, parse_loads, parse_works

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PLANS = sorted((ROOT / "plans").glob("*.toml"))


def schedulers() -> dict[str, Any]:
    try:
        listed = json.loads(subprocess.run([find_agent(), "schedulers"], check=True, capture_output=True).stdout)
    except MissingError as missing:
        pytest.skip(str(missing))
    return {entry["name"]: entry for entry in listed}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.name)
def test_every_example_plan_is_a_plan(path: Path) -> None:
    assert make_plan(read_settings(path), schedulers).planned > 0


def test_there_are_example_plans() -> None:
    assert PLANS


def test_the_page_of_plans_names_every_key() -> None:
    page = (DOCS / "plans.md").read_text()
    assert [key for key in Settings.model_fields if f"\n| `{key}` |" not in page] == []


def test_the_page_of_workloads_names_every_key() -> None:
    page = (DOCS / "workloads/README.md").read_text()
    dotted = {"parameters": "parameters.NAME", "metrics": "metrics.NAME"}
    keys = [dotted.get(key, key) for key in Definition.model_fields]
    assert [key for key in keys if not re.search(rf"^\|.*`{re.escape(key)}`.*\|", page, re.MULTILINE)] == []


def test_the_example_workload_works(tmp_path: Path) -> None:
    page = (DOCS / "workloads/README.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert tomllib.loads(text)["title"] == "gzip"
    path = tmp_path / "gzip.toml"
    path.write_text(text)
    works = parse_works(f"{path}:level=1..3", cpus=2)
    assert [work.label for work in works] == ["gzip:level=1", "gzip:level=2", "gzip:level=3"]
    assert "gzip -2 --keep" in works[1].message(None)["command"][2]
    assert Metric("elapsed_s", "s", "lower", "elapsed time", headline=True) in works[0].metrics


def test_the_page_of_loads_names_every_load_and_parameter() -> None:
    page = (DOCS / "loads.md").read_text()
    for name in LOADS.names():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
        assert [key for key in LOADS.find(name).parameters if f"`{key}`" not in row] == []


def test_the_example_load_works(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (DOCS / "loads.md").read_text(), re.DOTALL)
    path = tmp_path / "gzip.toml"
    path.write_text(text)
    (load,) = parse_loads(str(path), cpus=2)
    assert load is not None
    assert load.label == "gzip"


@pytest.mark.parametrize("name", WORKLOADS.names())
def test_every_workload_has_a_page_with_its_parameters(name: str) -> None:
    page = (DOCS / f"workloads/{name}.md").read_text()
    table = {key for key, parameter in WORKLOADS.find(name).parameters.items() if not parameter.words}
    assert {
        key
        for key in table
        if f"\n| `{key}` | `{WORKLOADS.find(name).parameters[key].default}`".replace("`", "")
        not in page.replace("`", "")
    } == set()


def every_command() -> list[tuple[str, ...]]:
    context = click.Context(cli)
    paths: list[tuple[str, ...]] = [()]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        paths.append((name,))
        if isinstance(command, click.Group):
            paths.extend((name, inner) for inner in command.commands)
    return paths


@pytest.mark.parametrize("path", every_command(), ids=" ".join)
def test_every_help_shows_an_example(path: tuple[str, ...]) -> None:
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    assert "Example" in command.get_help(click.Context(command, info_name=" ".join(("runoff", *path))))
