"""Probes by name: what a plan accepts, what the agent knows, what pages and lists tell."""

import json
import subprocess

import pytest
from checkout import ROOT
from cli_runner import run

from runoff.engines.agent import find_agent, make_sample_request
from runoff.engines.questions import describe_metrics
from runoff.errors import MissingError, UsageError
from runoff.plan.make import make_plan
from runoff.plan.probes import PROBES, REQUESTS, parse_probes
from runoff.plan.rerun import render_command
from runoff.plan.settings import parse_settings
from runoff.results import PROBE_COST
from runoff.workloads import parse_works

PAGE = ROOT / "docs/probes.md"


def test_all_is_every_probe_and_each_counts_once():
    assert parse_probes(["all", "idle"], makes_disks=True) == PROBES
    assert parse_probes(["all"], makes_disks=False) == tuple(name for name in PROBES if name != REQUESTS)
    assert parse_probes(["turns", "wakeups", "turns"], makes_disks=False) == ("wakeups", "turns")
    assert parse_probes([], makes_disks=True) == ()


def test_a_wrong_name_is_guessed():
    with pytest.raises(UsageError, match="unknown probe 'wakeup'; did you mean 'wakeups'"):
        parse_probes(["wakeup"], makes_disks=False)
    assert "unknown probe 'x'" in run("compare", "default", "--work", "counters", "--probe", "x", expect=64).stderr


def test_requests_are_of_disks_behind_elevators():
    assert parse_probes([REQUESTS], makes_disks=True) == (REQUESTS,)
    refused = run("compare", "default", "--work", "counters", "--probe", "requests", expect=64).stderr
    assert "for disks that runoff makes: add an arm such as default+io=cfq" in refused
    run("compare", "default", "default+io=cfq", "--work", "counters", "--probe", "requests", "--plan-only")


def test_a_plan_carries_them_to_the_agent_and_to_the_next_run():
    settings = parse_settings({"arms": ["default+io=noop"], "workloads": ["counters:n=1"], "probes": ["all"]}, "test")
    plan = make_plan(settings)
    assert plan.probes == PROBES
    assert "--probe all" in render_command(settings)
    (work,) = parse_works("counters:n=1", cpus=1)
    assert make_sample_request("a", {"kind": "default"}, work, probes=plan.probes)["probes"] == list(PROBES)
    assert make_sample_request("a", {"kind": "default"}, work)["probes"] == []


def test_metrics_are_those_of_the_probes_that_are_asked_for():
    assert describe_metrics().list_probe_metrics([]) == ()
    assert [metric.name for metric in describe_metrics().list_probe_metrics(["idle"])] == [
        "idle_while_waiting_s", "idle_while_waiting_count", "idle_while_waiting_longest_s", PROBE_COST,
    ]  # fmt: skip
    assert [metric.name for metric in describe_metrics().list_probe_metrics([REQUESTS])] == ["requests_dropped"]
    assert all(
        metric.direction == "none" and not metric.headline for metric in describe_metrics().list_probe_metrics(PROBES)
    )


def test_the_agent_knows_the_same_probes():
    try:
        schema = json.loads(subprocess.run([find_agent(), "schema"], check=True, capture_output=True).stdout)
    except MissingError as missing:
        pytest.skip(str(missing))
    assert tuple(schema["request"]["$defs"]["Probe"]["enum"]) == PROBES


def test_the_agent_describes_each_by_the_same_name():
    assert tuple(probe.name for probe in describe_metrics().probes) == PROBES
    assert [metric.name for metric in describe_metrics().probe_cost] == [PROBE_COST]


def test_the_list_and_the_page_name_each():
    listed = json.loads(run("list", "probes", "--json").stdout)
    assert tuple(entry["name"] for entry in listed) == PROBES
    page = PAGE.read_text()
    assert [name for name in PROBES if f"\n| `{name}` |" not in page] == []
    missing = [
        metric.name for metric in describe_metrics().list_probe_metrics(PROBES) if f"`{metric.name}`" not in page
    ]
    assert missing == []
