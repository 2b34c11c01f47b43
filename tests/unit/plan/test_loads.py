"""Loads: their files, their place in plan and order, and the message they become."""

from pathlib import Path
from typing import Any

import pytest

from runoff.engines.agent import make_sample_request
from runoff.engines.lab import swap
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.rerun import render_command
from runoff.plan.settings import parse_settings
from runoff.workloads import LOADS, parse_loads, parse_works

CONTEST = {"cacherun", "process", "ctar", "xtar", "io", "io_other", "read", "list", "mem", "dbench"}


def plan(**values: Any) -> Any:
    settings = {"arms": ["default"], "workloads": ["hackbench"], "memory_mb": 256, **values}
    return make_plan(parse_settings(settings, "test"))


def test_every_load_that_comes_with_runoff_is_valid_and_says_when_it_is_ready() -> None:
    assert set(LOADS.names()) >= CONTEST
    for name in LOADS.names():
        (load,) = parse_loads(name, cpus=2)
        assert load is not None
        if load.definition.rehearse:
            continue
        assert load.definition.ready, name
        assert load.load_message(None)["work"]["command"][:2] == ["runoff-agent", "load"]


def test_loads_multiply_the_cells_and_none_is_nothing() -> None:
    made = plan(loads=["none", "process:tokens=1..2"], blocks=3)
    assert made.load_labels == ("none", "process:tokens=1", "process:tokens=2")
    assert made.loads[0] is None
    assert made.planned == 9


def test_without_loads_reports_know_of_none() -> None:
    assert plan().load_labels == ("",)


def test_disk_and_swap_come_with_the_loads_that_want_them() -> None:
    assert (plan().disk_mb, plan().swap_mb) == (0, 0)
    assert (plan(loads=["io"]).disk_mb, plan(loads=["io"]).swap_mb) == (1024, 0)
    assert plan(loads=["mem"]).swap_mb == 512
    assert plan(loads=["io"], disk_mb=100).disk_mb == 100


def test_the_host_has_its_own_disks() -> None:
    with pytest.raises(UsageError, match="--disk is the size of disks that runoff makes"):
        plan(on="host", disk_mb=100)
    with pytest.raises(UsageError, match="--swap needs --on lab: the host has this machine's swap space"):
        plan(on="host", swap_mb=100)


def test_work_that_would_change_the_machine_is_refused_on_the_host(tmp_path: Path) -> None:
    load = tmp_path / "own.toml"
    parameter = '[parameters.tune]\nabout = "a"\ndefault = "on"\nchoices = ["on"]\nlab_only = ["on"]\n'
    load.write_text('title = "o"\ndescription = "o"\ncommand = ["o"]\nready = "r"\n' + parameter)
    plan(on="lab", workloads=["stress:hotplug=on"], loads=[str(load)])
    assert plan(on="host", workloads=["stress:groups=on"]).works
    with pytest.raises(UsageError, match=r"'stress:hotplug=on' .* leave hotplug=on out, or use --on lab"):
        plan(on="host", workloads=["hackbench", "stress:hotplug=on"])
    with pytest.raises(UsageError, match=r"'own' .* leave tune=on out, or use --on lab"):
        plan(on="host", loads=[str(load)])


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("proces", "unknown load 'proces'; did you mean 'process'?"),
        ("io:size_mb=x", "load 'io:size_mb=x': size_mb must be a whole number"),
        ("process:tokens=99", "tokens=99 is out of its range 1..64"),
    ],
)
def test_a_bad_load_is_named(load: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan(loads=[load])


def test_a_load_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="load 'io' is given twice"):
        plan(loads=["io", "io"])


def test_the_request_carries_the_load_and_the_command_line_repeats_it() -> None:
    (work,), (load,) = parse_works("hackbench", cpus=2), parse_loads("io:size_mb=5", cpus=2)
    request = make_sample_request("a", {"kind": "default"}, work, load, scratch="/scratch")
    assert request["load"]["work"]["command"][-1] == "--size-mb=5"
    assert request["load"]["ready"] == "ready"
    assert request["scratch"] == "/scratch"
    line = render_command(plan(loads=["none", "io:size_mb=5"], disk_mb=100).settings)
    assert "--load none --load io:size_mb=5" in line
    assert "--disk 100" in line


def test_swap_space_has_the_header_of_the_kernel(tmp_path: Path) -> None:
    page = swap.make(tmp_path / "swap", 16).read_bytes()[:4096]
    assert page.endswith(b"SWAPSPACE2")
    assert int.from_bytes(page[1024:1028], "little") == 1
    assert int.from_bytes(page[1028:1032], "little") == (16 << 20) // 4096 - 1


def test_cacherun_is_not_a_load_but_a_rehearsal_without_flushing() -> None:
    (work,), (warm,), (io,) = parse_works("hackbench", cpus=1), parse_loads("cacherun", 1), parse_loads("io", 1)
    request = make_sample_request("a", {"kind": "default"}, work, warm, flush=True)
    assert (request["load"], request["rehearse"], request["flush"]) == (None, True, False)
    request = make_sample_request("a", {"kind": "default"}, work, io, flush=True)
    assert (request["load"] is not None, request["rehearse"], request["flush"]) == (True, False, True)


@pytest.mark.parametrize(
    "text", ["", 'command = ["true"]\nrehearse = true\n', 'command = ["true"]\nscene = "a: run 1"\n']
)
def test_a_definition_runs_something_or_rehearses(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(f'title = "x"\ndescription = "y"\n{text}')
    with pytest.raises(UsageError, match="a command, or a scene, or else rehearse = true, and only one of them"):
        LOADS.find(str(path))
