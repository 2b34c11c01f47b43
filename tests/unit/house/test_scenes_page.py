"""The pages of scenes show what the agent and the workloads say of themselves."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from checkout import ROOT
from cli_runner import run

from runoff.engines.agent import find_agent
from runoff.engines.questions import describe_scene
from runoff.workloads import WORKLOADS, parse_works

PAGE = (ROOT / "docs/scenes.md").read_text()
SCENES = [name for name in WORKLOADS.names() if WORKLOADS.find(name).scene]
STEP = re.compile(r"^  (\S+(?: \S+)*?) {2,}(.+)$", re.MULTILINE)


def test_the_page_has_every_step_as_the_help_says_it() -> None:
    text = subprocess.run([find_agent(), "scene", "--help"], check=True, capture_output=True, text=True).stdout
    steps = STEP.findall(text.split("Steps", 1)[1])
    assert len(steps) == 26
    table = re.search(r"^\| step \| what it does \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table is not None
    assert table[1] == "".join(f"| `{step}` | {about} |\n" for step, about in steps)


def test_the_page_has_every_metric() -> None:
    every = describe_scene("lock m\na: repeat, timer 1, lock m, run 1, unlock m, done")
    rows = re.findall(r"^\| `NAME_(\w+)` \|.*\| (lower|higher) \|$", PAGE, re.MULTILINE)
    assert rows == [(name.removeprefix("a_"), metric.direction) for name, metric in every.items()]


def test_the_workload_of_the_page_works_and_its_mistake_is_told_as_shown(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = ROOT / "docs/workloads/frames.toml"
    assert path.read_text() == text
    assert [work.values["busy"] for work in parse_works(f"{path}:busy=2..8", cpus=2)] == list("2345678")
    wrong = tmp_path / "frames.toml"
    wrong.write_text(text.replace("repeat, timer 20,", "snooze 5,"))
    words = ("compare", "default", "bfs", "--on", "lab", "--work", wrong, "--out", tmp_path / "c")
    refused = run(*words, expect=64)
    (shown,) = re.findall(r"^    runoff: (workload 'frames': .*), \.\.\.$", PAGE, re.MULTILINE)
    assert shown in refused.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("name", SCENES)
def test_the_page_of_a_scene_shows_it(name: str) -> None:
    scene = WORKLOADS.find(name).scene.strip()
    assert f"\n```\n{scene}\n```\n" in (ROOT / f"docs/workloads/{name}.md").read_text()
    assert f"(workloads/{name}.md)" in PAGE


@pytest.mark.parametrize("name", SCENES)
def test_what_a_scene_judges_is_measured(name: str) -> None:
    (work, *_) = parse_works(name, cpus=2)
    definition = tomllib.loads((ROOT / f"python/runoff/workloads/{name}.toml").read_text())
    assert set(definition["judged"]) <= set(describe_scene(work.scene))
    assert definition["judged"] or definition["elapsed_headline"]
