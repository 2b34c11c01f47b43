"""Workloads that are scenes: what is measured of them, and what is sent to the agent."""

from pathlib import Path
from typing import Any

import pytest

from runoff.engines.questions import AGENT_CATALOGUE
from runoff.errors import UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import Settings
from runoff.workloads import LOADS

SCENE = 'scene = """\nlasts {seconds}s\nlock m\na*2: repeat, timer 5, lock m, run 1, unlock m, done\n"""\n'
PARAMETER = '[parameters.seconds]\nabout = "how long"\ndefault = "3"\nminimum = 1\nmaximum = 9\n'


def write(tmp_path: Path, text: str = SCENE, *, more: str = "", after: str = "") -> Path:
    path = tmp_path / "x.toml"
    path.write_text(f'title = "x"\ndescription = "y"\n{more}{text}{PARAMETER}{after}')
    return path


def plan(work: object, **values: Any) -> Plan:
    settings = {"arms": ["default"], "on": "lab", "workloads": [str(work)], **values}
    return make_plan(Settings.model_validate(settings), AGENT_CATALOGUE)


def headlines(work: object) -> list[str]:
    (made,) = plan(work).works
    return [metric.name for metric in made.list_metrics(AGENT_CATALOGUE.metrics().workload) if metric.headline]


def test_the_agent_plays_it_with_the_values_of_its_parameters(tmp_path: Path) -> None:
    (work,) = plan(f"{write(tmp_path)}:seconds=7").works
    message = work.message(None)
    assert message["command"][:3] == ["runoff-agent", "scene", "--"]
    assert message["command"][3] == work.scene
    assert work.scene.startswith("lasts 7s\nlock m\n")
    finds = {each["metric"]: each["find"] for each in message["extract"]}
    assert finds["a_missed_pct"] == {"json": "metrics.a_missed_pct"}
    assert len(finds) == 5


def test_lateness_and_what_is_done_judge_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert headlines(write(tmp_path)) == ["a_wake_p99_us", "a_done_per_s"]
    assert headlines(write(tmp_path, more='judged = ["a_missed_pct"]\n')) == ["a_missed_pct"]
    assert headlines(write(tmp_path, more="judged = []\n")) == ["elapsed_s"]
    own = '[metrics.late_ms]\njson = "actors.a0.late_max_ms"\nunit = "ms"\ndirection = "lower"\n'
    assert headlines(write(tmp_path, more='judged = ["a_run_ms"]\n', after=own)) == ["a_run_ms", "late_ms"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"text": 'scene = "a: hop"\n'}, "workload 'x': its scene, line 1: \"hop\" is not a step; there are on,"),
        ({"text": 'scene = "lock {m}\\na: run 1"\n'}, 'its scene, line 1: "{m}" is not a name'),
        ({"more": 'judged = ["b_run_ms"]\n'}, "judged: the scene has no metric 'b_run_ms'; did you mean 'a_run_ms'"),
        (
            {"after": '[metrics.a_run_ms]\njson = "a"\nunit = "ms"\ndirection = "lower"\n'},
            "metrics.a_run_ms: the scene has a metric of that name, so give it another one",
        ),
        ({"text": 'scene = "a: run 1\\u0000"\n'}, "a scene has at most 30000 characters, and none of them is NUL"),
        ({"text": f'scene = "{"#" * 30_001}"\n'}, "a scene has at most 30000 characters"),
        ({"text": 'command = ["true"]\n', "more": "judged = []\n"}, "judged names metrics of a scene"),
    ],
)
def test_what_does_not_fit_is_one_sentence(tmp_path: Path, change: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan(write(tmp_path, **change))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_load_is_no_scene(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a load goes on until it is stopped, and a scene ends"):
        LOADS.find(str(write(tmp_path)))
