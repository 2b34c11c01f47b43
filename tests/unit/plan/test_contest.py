"""contest's protocol as a plan."""

from pathlib import Path
from typing import Any

import pytest

from runoff.errors import UsageError
from runoff.plan.contest import make_plan_values
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.rerun import render_command, render_plan
from runoff.plan.settings import parse_settings, read_settings


def made(*, quick: bool = False, **given: Any) -> Plan:
    return make_plan(parse_settings({"arms": ["default"], **make_plan_values(given, 1, quick=quick)}, "test"))


def runs(plan: Plan) -> dict[str, int]:
    cells = plan.cells
    return {label: sum(cell.load == load for cell in cells) for load, label in enumerate(plan.load_labels)}


def test_each_load_is_run_as_often_as_its_author_did() -> None:
    plan = made()
    assert runs(plan) == {
        "none": 1, "cacherun": 1, "process": 2, "ctar": 3, "xtar": 3, "io": 4, "read": 2, "list": 2, "mem": 2,
        "dbench": 4,
    }  # fmt: skip
    assert plan.planned == sum(runs(plan).values())
    assert (plan.settings.cpus, plan.settings.memory_mb, plan.settings.flush) == (1, 256, True)
    assert [work.label for work in plan.works] == ["compile:jobs=4,part=ext2fs"]


def test_parameters_do_not_change_how_often() -> None:
    assert runs(made(loads=("io:size_mb=64", "io_other:directory=/mnt"))) == {
        "io:size_mb=64": 4,
        "io_other:directory=/mnt": 2,
    }


def test_what_is_given_counts() -> None:
    assert set(runs(made(blocks=3)).values()) == {3}
    assert runs(made(loads=("none", "io"), load_blocks={"io": 2})) == {"none": 1, "io": 2}
    assert made(workloads=("hackbench",), memory_mb=512).settings.memory_mb == 512


def test_quick_is_once_each() -> None:
    plan = made(quick=True)
    assert set(runs(plan).values()) == {1}
    assert plan.works[0].values["part"] == "et"


def test_the_plan_survives_being_written_as_a_file_and_as_a_command(tmp_path: Path) -> None:
    settings = made().settings
    path = tmp_path / "plan.toml"
    path.write_text(render_plan(settings))
    assert read_settings(path) == settings
    line = render_command(settings)
    assert "--load-blocks process=2" in line
    assert "--flush" in line


def test_a_count_for_a_load_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="load_blocks: no load 'oi'; there are: io, none"):
        made(loads=("none", "io"), load_blocks={"oi": 1})
