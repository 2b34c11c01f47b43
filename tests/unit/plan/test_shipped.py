"""Plans that come with runoff."""

import tomllib

import pytest
from checkout import ROOT
from click.testing import CliRunner

from runoff.cli.list import command as list_command
from runoff.cli.run import command as run_command
from runoff.errors import UsageError
from runoff.plan.settings import read_settings
from runoff.plan.shipped import describe_shipped, find_shipped, list_shipped


def test_they_are_those_of_the_repository():
    shipped = list_shipped()
    assert {name: path.read_text() for name, path in shipped.items()} == {
        path.stem: path.read_text() for path in (ROOT / "plans").glob("*.toml")
    }
    for path in shipped.values():
        assert read_settings(path).arms
        assert describe_shipped(path)


def test_one_that_is_not_there_is_named_with_the_closest():
    with pytest.raises(UsageError, match="no plan 'zaphod-2003' comes with runoff; did you mean 'zaphod-2004'"):
        find_shipped("zaphod-2003")


def test_they_are_run_by_name_and_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(run_command, ["demo", "--plan-only"], catch_exceptions=False)
    assert tomllib.loads(told.output)["arms"] == ["default", "bfs", "o1"]
    (tmp_path / "demo").write_text('arms = ["default", "eevdf"]\nworkloads = ["counters"]\n')
    told = CliRunner().invoke(run_command, ["demo", "--plan-only"], catch_exceptions=False)
    assert tomllib.loads(told.output)["arms"] == ["default", "eevdf"]
    with pytest.raises(UsageError, match=r"cannot read the plan demo\.toml"):
        CliRunner().invoke(run_command, ["demo.toml"], catch_exceptions=False)


def test_they_are_listed():
    lines = CliRunner().invoke(list_command, ["plans"]).output.splitlines()
    assert [line.split()[0] for line in lines] == sorted(list_shipped())
