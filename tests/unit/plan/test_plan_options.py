"""Options of plans are declared once: the command line, the rerun command, the docs and the schema agree with that."""

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from checkout import ROOT
from click.testing import CliRunner

from runoff.cli.main import cli
from runoff.plan.option import read_keys
from runoff.plan.rerun import render_command, render_plan
from runoff.plan.settings import Settings, parse_settings

SCHEMA = json.loads((ROOT / "docs/schema/runoff.plan.json").read_text())
BASE: dict[str, Any] = {
    "arms": ["default", "fast"], "names": {"fast": "bfs:rr_interval_ms=3"}, "workloads": ["counters:n=1", "hackbench"],
    "seed": 7, "cpus": 2, "clock": "virtual",
}  # fmt: skip
CHANGED: dict[str, Any] = {
    "arms": ["default", "bfs", "fast"], "names": {"fast": "o1", "two words": "bfs"},
    "modes": {"scx_lavd:gaming": "--performance --slice-min-us 300"},
    "workloads": ["hackbench:groups=3"],
    "loads": ["none", "process"], "probes": ["all"], "on": "host", "clock": "real", "cpus": 3,
    "topology": "sockets=1,cores=2", "quantum": 2000, "sensitivity": "quantum", "memory_mb": 512, "disk_mb": 128,
    "disk_model": "scsi10k", "place": "/tmp", "swap_mb": 32, "kernel": "debian:6.18", "packages": ["gzip", "make"],
    "blocks": 4, "load_blocks": {"process": 2}, "warmup": 1, "flush": True, "seed": 0, "margin": 0.015, "until": 0.03,
    "most_blocks": 40, "rare": 0.21,
}  # fmt: skip
WITH: dict[str, dict[str, Any]] = {
    "names": {"arms": ["default", "fast", "two words"]},
    "modes": {"arms": ["default", "fast", "scx_lavd:gaming"]},
    "on": {"clock": "real", "memory_mb": 1024},
    "place": {"on": "host", "clock": "real"},
    "load_blocks": {"loads": ["none", "process"]},
    "most_blocks": {"until": 0.02},
    "warmup": {"clock": "real"},
}
"""The keys that must be given with another key."""


def test_every_key_is_tried() -> None:
    assert {*CHANGED} == {*Settings.model_fields} == {key.name for key in read_keys(Settings)}


@pytest.mark.parametrize("key", CHANGED)
def test_the_rerun_command_gives_the_same_plan(key: str) -> None:
    settings = parse_settings({**BASE, **WITH.get(key, {}), key: CHANGED[key]}, "test")
    words = shlex.split(render_command(settings))
    result = CliRunner().invoke(cli, [*words[1:3], "--plan-only", *words[3:]])
    assert result.exit_code == 0, result.output
    assert parse_settings(tomllib.loads(result.stdout), "test") == settings


def test_docs_and_schema_are_what_the_declarations_say() -> None:
    subprocess.run([sys.executable, ROOT / "tools/plan_pages", "--check"], check=True)


@pytest.mark.parametrize("path", sorted((ROOT / "plans").glob("*.toml")), ids=lambda path: path.stem)
def test_plan_files_are_as_the_schema_says(path: Path) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(tomllib.loads(path.read_text()))


def test_printed_plans_are_as_the_schema_says() -> None:
    for key, value in CHANGED.items():
        settings = parse_settings({**BASE, **WITH.get(key, {}), key: value}, "test")
        jsonschema.validate(tomllib.loads(render_plan(settings)), SCHEMA)


@pytest.mark.parametrize("wrong", [{"blocks": "5"}, {"blocks": 0}, {"on": "sim"}, {"block": 5}, {"quick": {"on": 1}}])
def test_the_schema_refuses_what_runoff_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**BASE, **wrong}, SCHEMA)
