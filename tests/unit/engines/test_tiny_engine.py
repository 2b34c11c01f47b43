"""An engine is added by one description: this one throws dice, and a campaign on it is like any other."""

import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_runner import ask, run

import runoff
from runoff.campaign import conduct as campaigns
from runoff.campaign.loop.execution import Ending
from runoff.cli.main import cli
from runoff.engine_kinds import ELEVATORS, ENGINES, EngineKind
from runoff.engines import doctor
from runoff.engines.outcome import AcceptedArm, Outcome, RefusedArm, ValidSample
from runoff.errors import MissingError, UsageError
from runoff.plan.arms import Arm
from runoff.plan.catalogue import Catalogue, EngineMetrics
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings
from runoff.results import Metric

NAME = "dice"
PIPS = Metric("pips", "", "higher", "pips thrown", headline=True)
THROWS = Metric("throws", "", "none", "throws")
SCHEDULERS = {
    "loaded": {
        "name": "loaded",
        "title": "dice that fall on six more often",
        "parameters": [
            {"name": "weight", "title": "of ten throws, sixes", "min": 0, "max": 10, "default": 5, "unit": "1"}
        ],
    }
}
CATALOGUE = Catalogue(schedulers=lambda: SCHEDULERS, metrics=lambda: EngineMetrics(workload=(PIPS, THROWS)))


class Dice:
    """Throws a hundred dice for each sample."""

    whole_blocks = False
    slots = 1
    unmixable_tables = ("dice",)

    def __init__(self, plan: Plan, directory: Path) -> None:
        self._plan = plan
        self.directory = directory

    def prepare(self, say: Callable[[str], None]) -> None:
        say("shaking")

    def check(self, arm: Arm) -> AcceptedArm | RefusedArm:
        return AcceptedArm(ops=arm.label)

    def take(self, cell: Cell, on_phase: Callable[[str], None]) -> Outcome:
        on_phase("run")
        drawn = random.Random(f"{self._plan.seed} {cell.id}")
        parameters = self._plan.arms[cell.arm].scheduler.get("parameters", {})
        sixes = 10 * int(parameters.get("weight", 0))
        pips = 6 * sixes + sum(drawn.randint(1, 6) for _ in range(100 - sixes))
        return ValidSample({"pips": pips, "throws": 100}, {"ops": self._plan.arms[cell.arm].label})

    def fingerprint(self) -> Mapping[str, Any]:
        return {"dice": {"sides": "6"}}

    def warnings(self) -> tuple[str, ...]:
        return ("they are only dice",)

    def abandon(self) -> None: ...

    def close(self) -> None: ...


def find_dice() -> list[doctor.Finding]:
    return [doctor.Finding("dice", "hand", "yes", "it does not shake")]


DICE = EngineKind(
    about="dice",
    make=f"{__name__}:Dice",
    catalogue=f"{__name__}:CATALOGUE",
    findings=f"{__name__}:find_dice",
    clocks=("virtual",),
    most_exact_cpus=3,
    without={
        "loads": "dice do one thing at a time",
        "probes": "nothing is hidden in them",
        "kernel": "they have none",
        ELEVATORS: "they have no disk",
    },
)


@pytest.fixture(autouse=True)
def dice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, NAME, DICE)


def settings(tmp_path: Path, **values: Any) -> Any:
    work = tmp_path / "throw.toml"
    work.write_text('title = "throw"\ndescription = "throw"\ncommand = ["true"]\n')
    usual = {"on": "dice", "arms": ["default", "loaded:weight=8"], "workloads": [str(work)], "blocks": 6, "seed": 1}
    return parse_settings({**usual, **values}, "test")


def test_a_campaign_on_it_is_taken_gone_on_with_and_reported(tmp_path: Path) -> None:
    place = tmp_path / "c"
    taken = runoff.conduct(settings(tmp_path), place)
    assert taken.ending is Ending.COMPLETE
    assert [metric.name for metric in next(iter(taken.results.metrics.values()))] == ["pips", "throws"]
    told = ask(cli, "report", place).stdout
    assert "dice, virtual clock" in told
    assert "loaded:weight=8 (+55.8 %) is better than default" in " ".join(told.split())
    assert "they are only dice" in ask(cli, "report", place, "-v").stdout
    document = json.loads(ask(cli, "report", place, "--json").stdout)
    assert (document["engine"], document["fingerprint"]["dice"]) == ("dice", {"sides": "6"})
    assert f"--on {NAME}" in document["rerun"]
    assert len(runoff.resume(place, blocks=8).results.samples) == 2 * 8


def test_its_clock_is_the_only_one_it_has(tmp_path: Path) -> None:
    assert campaigns.check(settings(tmp_path)).clock == "virtual"
    with pytest.raises(UsageError, match="the dice engine has no real clock"):
        campaigns.check(settings(tmp_path, clock="real"))
    with pytest.raises(UsageError, match="the virtual clock is for 3 CPUs at most"):
        campaigns.check(settings(tmp_path, cpus=4))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"loads": ["io"]}, "--load needs --on host or --on lab: dice do one thing at a time"),
        ({"probes": ["turns"]}, "--probe needs --on host or --on lab: nothing is hidden in them"),
        ({"kernel": "debian"}, "--kernel needs --on lab: they have none"),
        ({"arms": ["default", "default+thp=never"]}, "arm 'default+thp=never': thp needs --on host or --on lab"),
        ({"arms": ["default", "default+io=noop"]}, "arms with +io= need --on host or --on lab: they have no disk"),
        ({"arms": ["default", "bfs"]}, "unknown scheduler 'bfs'; there are: default, loaded;"),
    ],
)
def test_what_it_cannot_do_is_refused_by_what_it_says_of_itself(
    tmp_path: Path, values: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError) as refused:
        campaigns.check(settings(tmp_path, **values))
    assert why in str(refused.value)


@pytest.mark.parametrize(("takes", "kind"), [("scene", "command"), ("command", "scene")])
def test_work_of_a_kind_that_it_does_not_take_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, takes: Any, kind: str
) -> None:
    monkeypatch.setitem(ENGINES, NAME, replace(DICE, takes=(takes,)))
    values = {"workloads": ["game"]} if kind == "scene" else {}
    with pytest.raises(UsageError) as refused:
        campaigns.check(settings(tmp_path, **values))
    assert f"is a {kind}, which the dice engine does not take: it needs --on host or --on lab" in str(refused.value)


def test_a_campaign_of_an_engine_that_is_gone_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "c"
    runoff.conduct(settings(tmp_path), place)
    monkeypatch.delitem(ENGINES, NAME)
    refused = run("resume", place, expect=64)
    assert "on: it must be 'host' or 'lab', not 'dice'" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_without_root_the_engines_that_need_none_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, NAME, replace(DICE, needs_root=True))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingError, match=r"the dice engine needs root: sudo .*, or use --on lab$"):
        runoff.conduct(settings(tmp_path), tmp_path / "c")


def test_machines_of_a_cluster_do_not_take_its_samples(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"a cluster takes samples with --on lab: run with --on {NAME} on each"):
        runoff.conduct(settings(tmp_path), tmp_path / "c", cluster="local:1")


def test_doctor_says_what_it_finds_about_it() -> None:
    findings = doctor.examine()
    assert [finding.detail for finding in findings if finding.area == "dice"] == ["it does not shake"]
    assert doctor.is_able([finding for finding in findings if finding.area == "dice"], "dice")


def test_an_engine_of_another_name_is_refused_with_the_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="on: it must be 'host' or 'lab' or 'dice', not 'moon'"):
        settings(tmp_path, on="moon")
