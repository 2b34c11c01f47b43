"""``runoff list``: a line each, and one of them with its parameters."""

import json

import pytest
from cli_runner import run

KINDS = ("schedulers", "elevators", "workloads", "loads", "probes", "published")


@pytest.mark.parametrize("kind", KINDS)
def test_each_has_a_line(kind: str) -> None:
    entries = json.loads(run("list", kind, "--json").stdout)
    lines = run("list", kind).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [entry["name"] for entry in entries]
    assert all(line.endswith(entry["title"]) for line, entry in zip(lines, entries, strict=True))


def test_one_is_shown_with_its_parameters() -> None:
    done = run("list", "schedulers", "bfs")
    assert "\n  rr_interval_ms=6  (1..1000 ms)\n      How long a task may run" in done.stdout
    (entry,) = json.loads(run("list", "schedulers", "bfs", "--json").stdout)
    assert all(f"  {parameter['name']}={parameter['default']}  (" in done.stdout for parameter in entry["parameters"])
    assert "era=2.6.8  (2.6.8 or 2.6.20, fixed once attached)" in run("list", "schedulers", "o1").stdout
    assert "parameters of one: runoff list schedulers NAME" in run("list", "schedulers").stderr
    assert run("list", "probes").stderr == ""


def test_what_is_not_there_is_named_with_a_guess() -> None:
    told = run("list", "schedulers", "bsf", expect=64).stderr
    assert told == "runoff: 'bsf' is not one of runoff list schedulers; did you mean 'bfs'?\n"
