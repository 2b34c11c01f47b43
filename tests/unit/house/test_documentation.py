"""Examples on the pages must be accepted by the program that they describe."""

import itertools
import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from checkout import ROOT

from runoff.cli.main import COMMANDS, cli
from runoff.engines.agent import find_agent
from runoff.engines.questions import describe_metrics
from runoff.errors import MissingError
from runoff.plan.catalogue import Catalogue
from runoff.plan.make import make_plan
from runoff.plan.settings import Settings, read_settings
from runoff.results import Metric
from runoff.workloads import LOADS, WORKLOADS, Definition, parse_loads, parse_works

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
PLANS = sorted((ROOT / "plans").glob("*.toml"))


def schedulers() -> dict[str, Any]:
    try:
        listed = json.loads(subprocess.run([find_agent(), "schedulers"], check=True, capture_output=True).stdout)
    except MissingError as missing:
        pytest.skip(str(missing))
    return {entry["name"]: entry for entry in listed}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.name)
def test_every_example_plan_is_a_plan(path: Path) -> None:
    assert make_plan(read_settings(path), Catalogue(schedulers)).planned > 0


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


def test_the_example_workload_works() -> None:
    page = (DOCS / "workloads/README.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert tomllib.loads(text)["title"] == "gzip"
    path = DOCS / "workloads/gzip.toml"
    assert path.read_text() == text
    works = parse_works(f"{path}:level=1..3", cpus=2)
    assert [work.label for work in works] == ["gzip:level=1", "gzip:level=2", "gzip:level=3"]
    assert "gzip -2 --keep" in works[1].message(None)["command"][2]
    assert Metric("elapsed_s", "s", "lower", "elapsed time", headline=True) in works[0].list_metrics(
        describe_metrics().workload
    )


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
        found = command.get_command(command.context_class(command), name)
        assert found is not None
        command = found
    assert "Example" in command.get_help(command.context_class(command, info_name=" ".join(("runoff", *path))))


SHOWN = re.compile(r"^(?:\$ |rerun +|sudo )?((?:runoff|make) [a-z].*)$")
AFTER_A_COMMAND = {"|", ">", "&", "&&", ";"}


def shown_commands(page: Path) -> list[list[str]]:
    """Words of each line of a code block that a user would type, without the remarks next to it."""
    found = []
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            if shown := SHOWN.match(line):
                words = shlex.split(re.split(r" {2,}", shown[1].replace("$(nproc)", "2"))[0], comments=True)
                ends = (number for number, word in enumerate(words) if word in AFTER_A_COMMAND)
                found.append(words[: next(ends, len(words))])
    return found


def objection(words: list[str]) -> str:
    """The objection of the command line to these words; nothing is run, and files need not exist."""
    command: click.Command = cli
    while isinstance(command, click.Group) and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"there is no command {words[0]}"
        command, words = found, words[1:]
    try:
        command.make_context(command.name, list(words))
    except click.UsageError as wrong:
        return "" if "does not exist" in wrong.message else wrong.message
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_shows_is_one(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for program, *words in shown_commands(page):
        if program == "make":
            assert words[0] in targets
        else:
            assert objection(words) == "", words


def test_every_workload_that_a_command_shows_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS / "workloads")
    named = [
        works
        for page in PAGES
        for words in shown_commands(page)
        for option, works in itertools.pairwise(words)
        if option == "--work" and not works.removeprefix("command:").startswith((".", "kernel-build"))
    ]
    assert len(named) > 20
    for works in named:
        assert parse_works(works, cpus=2)


def test_the_tasks_that_a_page_shows_are_in_the_file() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", (DOCS / "workloads/rt-app.md").read_text(), re.DOTALL)
    assert (DOCS / "workloads/game.json").read_text() == text
    assert json.loads(text)["global"]["logdir"] == "./"


def test_the_first_pages_show_commands() -> None:
    for page in (ROOT / "README.md", DOCS / "tutorial.md"):
        assert len(shown_commands(page)) >= 3
