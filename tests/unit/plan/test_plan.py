"""Plans from values and files, and what they refuse."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from runoff.errors import UsageError
from runoff.plan.catalogue import Catalogue
from runoff.plan.make import make_plan
from runoff.plan.option import read_keys
from runoff.plan.rerun import render_command, render_plan
from runoff.plan.settings import Settings, parse_settings, read_settings
from runoff.statistics.power import least_blocks

VALUES: dict[str, Any] = {"arms": ["default", "bfs"], "workloads": ["counters:n=1..2"], "blocks": 3}


def schedulers() -> dict[str, Any]:
    return {"bfs": {"parameters": []}}


def test_a_plan_counts_its_samples() -> None:
    assert make_plan(parse_settings(VALUES, "test"), Catalogue(schedulers)).planned == 2 * 2 * 3


def test_the_printed_plan_reads_back_as_the_same_plan(tmp_path: Path) -> None:
    more = {"kernel": "debian", "seed": 0, "margin": 0.01, "rare": 0.05, "names": {"a b": 'exec:a "b" -k'}}
    settings = parse_settings({**VALUES, **more, "arms": ["default", "a b"]}, "test")
    path = tmp_path / "plan.toml"
    path.write_text(render_plan(settings))
    assert read_settings(path) == settings
    assert tomllib.loads(path.read_text())["blocks"] == 3


@pytest.mark.parametrize("letter", ["\N{OWL}", "é", "\x7f", "\x01", "\n", '"', "\\", "'"])
def test_any_letter_survives_the_printed_plan(tmp_path: Path, letter: str) -> None:
    loads = {"arms": [f"exec:a {letter}b"], "loads": [f"io:directory={letter}"], "load_blocks": {f"io:{letter}": 1}}
    settings = parse_settings({**VALUES, **loads}, "test")
    path = tmp_path / "plan.toml"
    path.write_text(render_plan(settings), encoding="utf-8", newline="")
    assert read_settings(path) == settings


@pytest.mark.parametrize("change", [{"arms": ["exec:caf\udce9"]}, {"kernel": "\udce9"}, {"place": "/caf\udce9"}])
def test_bytes_that_are_not_text_are_refused_before_anything_is_written(change: dict[str, Any]) -> None:
    """Python has them from a command line that is not UTF-8; no journal, plan or request could hold them."""
    with pytest.raises(UsageError, match="it is not valid UTF-8"):
        parse_settings({**VALUES, **change}, "the command line")


def test_a_line_can_be_added_to_a_printed_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(render_plan(parse_settings(VALUES, "test")) + 'kernel = "debian"\n')
    assert read_settings(path).kernel == "debian"


def test_the_rerun_command_names_arms_work_and_seed() -> None:
    command = render_command(parse_settings({**VALUES, "seed": 42}, "test"))
    assert command.startswith("runoff compare default bfs --work counters:n=1..2 ")
    assert command.endswith("--blocks 3 --seed 42")
    assert render_command(parse_settings({**VALUES, "seed": 0}, "test")).endswith("--blocks 3 --seed 0")


def test_the_rerun_command_names_every_setting_that_matters() -> None:
    command = render_command(parse_settings({**VALUES, "margin": 0.0125, "rare": 0.05}, "test"))
    assert "--margin 1.25% --rare 5%" in command


@pytest.mark.parametrize("seed", [0, 42])
def test_a_seed_that_is_given_is_kept(seed: int) -> None:
    assert make_plan(parse_settings({**VALUES, "seed": seed}, "test"), Catalogue(schedulers)).seed == seed


def test_a_seed_is_drawn_where_none_is_given() -> None:
    drawn = {make_plan(parse_settings(VALUES, "test"), Catalogue(schedulers)).seed for _ in range(8)}
    assert len(drawn) > 1
    assert all(1 <= seed <= 999_999 for seed in drawn)


def test_an_arm_is_called_by_its_name() -> None:
    names = {"a": "bfs:rr_interval_ms=3", "b": "default", "c": "default"}
    values = {**VALUES, "arms": ["default", "a", "b", "c"], "names": names}
    plan = make_plan(parse_settings(values, "test"))
    assert [arm.label for arm in plan.arms] == ["default", "a", "b", "c"]
    assert plan.arms[1].scheduler["parameters"] == {"rr_interval_ms": "3"}
    assert plan.arms[2].scheduler == plan.arms[3].scheduler == {"kind": "default"}


@pytest.mark.parametrize(
    ("arms", "names", "sentence"),
    [
        (["default"], {"a": "bfs"}, "names: 'a' is not among the arms"),
        (["a", "a"], {"a": "bfs"}, "arm 'a' is given twice"),
        (["default", "bfs"], {"bfs": "default"}, "names: 'bfs' is itself a scheduler: give 'default' another name"),
        (["default"], {"default": "bfs"}, "names: 'default' is itself a scheduler"),
        (["a=b"], {"a=b": "bfs"}, "names: 'a=b' is not a name for an arm"),
        ([" a"], {" a": "bfs"}, "names: ' a' is not a name for an arm"),
        ([""], {"": "bfs"}, "names: '' is not a name for an arm"),
        (["a"], {"a": "nonesuch"}, "arm 'nonesuch': unknown scheduler 'nonesuch'"),
    ],
)
def test_names_that_mislead_are_refused(arms: list[str], names: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(parse_settings({**VALUES, "arms": arms, "names": names}, "test"), Catalogue(schedulers))
    assert sentence in str(caught.value)


def test_cpus_are_those_that_are_given_on_the_host_too() -> None:
    values = {**VALUES, "on": "host", "workloads": ["compile"]}
    given = make_plan(parse_settings({**values, "cpus": 7}, "test"), Catalogue(schedulers))
    assert (given.settings.cpus, given.works[0].values["jobs"]) == (7, "7")
    here = make_plan(parse_settings(values, "test"), Catalogue(schedulers))
    assert (here.settings.cpus, here.works[0].values["jobs"]) == (cpus := len(os.sched_getaffinity(0)), str(cpus))
    assert f"--cpus {cpus}" in render_command(here.settings)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"blocks": 0}, "the file: blocks: 0 is not at least 1"),
        ({"arms": []}, "the file: arms"),
        ({"on": "moon"}, "the file: on: it must be 'host' or 'lab'"),
        ({"block": 3}, "the file: block: there is no such key"),
        ({"memory_mb": 1}, "the file: memory_mb"),
    ],
)
def test_wrong_settings_name_origin_and_key(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings({**VALUES, **change}, "the file")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('blocks = "5"', "blocks: it must be a whole number, not"),
        ("blocks = 5.0", "blocks: it must be a whole number, not"),
        ("blocks = 1.5", "blocks: it must be a whole number, not"),
        ("blocks = true", "blocks: it must be a whole number, not"),
        ("margin = true", "margin: it must be a number, not"),
        ('margin = "2%"', "margin: it must be a number, not"),
        ("rare = nan", "rare: it must be a number that is neither infinite nor nan"),
        ("rare = 0.6", "is not at most 0.5"),
        ("margin = 0", "is not more than 0"),
        ("names = { a = 1 }", "names.a: it must be a text, not"),
        ('kernel = "a\\u0000b"', "kernel: a NUL character"),
        ('names = { "\\u0000" = "bfs" }', "a NUL character"),
        ("blocks = nan", "blocks: it must be a whole number, not"),
        ("seed = inf", "seed: it must be a whole number, not"),
        ('seed = "7"', "seed: it must be a whole number, not"),
        ("flush = 1", "flush: it must be true or false, not"),
        ('flush = "yes"', "flush: it must be true or false, not"),
        ("kernel = 7.2", "kernel: it must be a text, not"),
        ("loads = [1]", "loads.0: it must be a text, not"),
        ('loads = "io"', "loads: it must be a list, not"),
        ("load_blocks = { io = 2.0 }", "load_blocks.io: it must be a whole number, not"),
        ('load_blocks = { io = "2" }', "load_blocks.io: it must be a whole number, not"),
        ("load_blocks = { io = true }", "load_blocks.io: it must be a whole number, not"),
        ("seed = 2026-01-01", "seed: it must be a whole number, not"),
        ("[quick]\nseed = true", "seed: it must be a whole number, not"),
    ],
)
def test_a_value_of_another_kind_is_refused_and_not_made_to_fit(tmp_path: Path, line: str, sentence: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f'arms = ["default"]\nworkloads = ["counters"]\n{line}\n')
    with pytest.raises(UsageError) as caught:
        read_settings(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"clock": "virtual", "cpus": 17}, "the virtual clock is for 16 CPUs at most"),
        ({"clock": "real", "quantum": 500}, "--quantum needs the virtual clock"),
        ({"clock": "virtual", "cpus": 1, "on": "host"}, "exists only with --on lab"),
        ({"clock": "virtual", "warmup": 1}, "nothing can be warmed up"),
        ({"warmup": 1, "quantum": 500}, "--quantum needs the virtual clock"),
        ({"sensitivity": "quantum", "clock": "real"}, "--sensitivity quantum needs the virtual clock"),
        ({"sensitivity": "quantum", "on": "host"}, "--sensitivity quantum needs the virtual clock"),
        ({"sensitivity": "quantum", "cpus": 1}, "needs two or more CPUs"),
        ({"sensitivity": "quantum", "quantum": 150}, "choose another --quantum than 150"),
        ({"sensitivity": "quantum", "quantum": 600_000}, "choose another --quantum than 600000"),
        ({"topology": "sockets=2,cores=2", "cpus": 2}, "has 4 CPUs (sockets x cores x threads), but --cpus is 2"),
        ({"topology": "sockets=2", "on": "host"}, "--topology needs --on lab"),
        ({"topology": "sockets=65"}, "sockets=65 is out of its range 1..64"),
        ({"topology": "sockets=2,kores=2"}, "a topology has no parameter 'kores'; did you mean 'cores'?"),
        ({"topology": "sockets=3,nodes=2"}, "2 nodes cannot share 3 sockets"),
        ({"topology": "sockets=2,distance=30"}, "a distance is between nodes"),
        ({"topology": "cores=8,threads=9"}, "is not at most 64"),
        ({"arms": ["default", "default"]}, "arm 'default' is given twice"),
        ({"workloads": ["counters:n=1..2", "counters:n=2"]}, "workload 'counters:n=2' is given twice"),
        ({"on": "host", "arms": ["default@debian"]}, "name it as in @host:6.12.5"),
        ({"on": "host", "arms": ["default@host:6.12", "bfs"]}, "arm 'bfs' names no kernel, and others do"),
        ({"on": "host", "arms": ["default@host:6.12", "bfs@host:6.18"], "until": 0.01}, "give --blocks"),
        ({"on": "host", "kernel": "debian"}, "--kernel needs --on lab: arms on the host name theirs"),
    ],
)
def test_contradictions_are_explained(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(parse_settings({**VALUES, **change}, "test"), Catalogue(schedulers))
    assert sentence in str(caught.value)


CLOCKS = [
    ({}, "virtual"),
    ({"clock": "real"}, "real"),
    ({"cpus": 17}, "real"),
    ({"warmup": 1}, "real"),
    ({"on": "host"}, "real"),
]


@pytest.mark.parametrize(("change", "clock"), CLOCKS)
def test_the_machine_chooses_a_clock_only_where_the_plan_leaves_it_open(change: dict[str, Any], clock: str) -> None:
    plan = make_plan(
        parse_settings({**VALUES, **change}, "test"), Catalogue(schedulers), choose_clock=lambda _plan: "virtual"
    )
    assert plan.clock == plan.settings.clock == clock


def test_a_quantum_means_the_virtual_clock() -> None:
    plan = make_plan(
        parse_settings({**VALUES, "quantum": 500}, "test"),
        Catalogue(schedulers),
        choose_clock=lambda _plan: "real",
    )
    assert plan.clock == "virtual"


def test_a_topology_says_how_many_cpus_there_are() -> None:
    plan = make_plan(parse_settings({**VALUES, "topology": "sockets=2,cores=3"}, "test"), Catalogue(schedulers))
    assert plan.settings.cpus == 6
    assert make_plan(parse_settings(plan.settings.model_dump(mode="json"), "test"), Catalogue(schedulers)) == plan
    assert "--cpus 6" in render_command(plan.settings)
    assert "--topology sockets=2,cores=3" in render_command(plan.settings)


def test_what_a_topology_does_not_cost_is_told_where_there_is_some() -> None:
    def untold(text: str) -> str | None:
        plan = make_plan(parse_settings({**VALUES, "topology": text}, "test"), Catalogue(schedulers))
        assert plan.topology is not None
        return plan.topology.untold

    assert untold("sockets=2,cores=2") is None
    both = untold("sockets=2,threads=2,nodes=2") or ""
    assert "threads of a core do not slow" in both
    assert "another node's memory" in both
    assert "node" not in (untold("threads=2") or "node")


@pytest.mark.parametrize("text", ["", " "])
def test_a_topology_of_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"topology '.*': name what there is more than one of, e.g. cores=2"):
        make_plan(parse_settings({**VALUES, "topology": text}, "test"), Catalogue(schedulers))


def test_an_unreadable_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the plan .*no\.toml"):
        read_settings(tmp_path / "no.toml")
    path = tmp_path / "bad.toml"
    path.write_text("arms = [")
    with pytest.raises(UsageError, match=r"bad\.toml is not a plan"):
        read_settings(path)


def test_the_help_of_rare_says_what_the_rule_asks() -> None:
    (said,) = [key.option.help for key in read_keys(Settings) if key.name == "rare"]
    shares = re.findall(r"(\d+)% (?:of runs )?takes (\d+)", said)
    assert [(share, str(least_blocks(int(share) / 100))) for share, _ in shares] == shares
    assert len(shares) == 2
