"""The output of attach, set, stats and list, and how they parse the agent's answers."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from runoff.cli import counters
from runoff.cli.attach import command as attach
from runoff.cli.attach import warn
from runoff.cli.list import _print_whole, _scheduler
from runoff.cli.set import command as set_command
from runoff.engines.control import Watch
from runoff.errors import MissingError, RunoffError, UsageError

STATISTICS = [
    {"name": "switches", "sentence": "Tasks that came to a CPU, counted once for each time they did and for each CPU."},
    {"name": "busy_ns", "sentence": "Time [with brackets]."},
]

LONG_TURN = {"parameter": "time_slice=1000", "unit": "ms", "starves_above": 15, "safe_up_to": 2351}
LONG_TURN_SENTENCE = (
    "time_slice=1000 (ms) is a long turn: where more than 15 tasks a CPU want to run, one waits for 15 s and then runs"
    " for a tick at a time; with more than 2351 the kernel's watchdog may end hydra"
)


def reading(elapsed_s: float, switches: int, cpus: int = 0) -> dict[str, Any]:
    counted = {"switches": switches, "busy_ns": 1_000_000_007}
    each = {"per_cpu": [{"cpu": cpu, "counters": counted} for cpu in range(cpus)]} if cpus else {}
    return {"scheduler": "hydra", "elapsed_s": elapsed_s, "counters": counted, **each}


def printed(now: dict[str, Any], before: dict[str, Any] | None, width: int = 80) -> list[str]:
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(counters.render_tables(STATISTICS, now, before, width))
    return [line.rstrip() for line in capture.get().splitlines()]


def test_once_every_sentence_is_whole() -> None:
    assert printed(reading(0, 41), None) == [
        "counter        total  what it counts",
        "switches          41  Tasks that came to a CPU, counted once for each time they",
        "                      did and for each CPU.",
        "busy_ns   1000000007  Time [with brackets].",
    ]


def test_live_every_counter_has_one_line_and_a_rate() -> None:
    assert printed(reading(4, 60), reading(2, 41)) == [
        "counter        total  per second  what it counts",
        "switches          60         9.5  Tasks that came to a CPU, counted once for ea…",
        "busy_ns   1000000007         0.0  Time [with brackets].",
    ]


def test_a_first_reading_has_no_rate() -> None:
    first = reading(2, 41)
    assert printed(first, first)[1].split()[:3] == ["switches", "41", "Tasks"]


@pytest.mark.parametrize(("cpus", "tables"), [(1, 1), (5, 1), (6, 2), (11, 2), (12, 3)])
def test_cpus_that_do_not_fit_go_into_further_tables(cpus: int, tables: int) -> None:
    lines = printed(reading(0, 41, cpus), None)
    assert max(map(len, lines)) <= 80
    titles = [line for line in lines if line.startswith("counter")]
    assert len(titles) == tables
    assert " ".join(titles).count("CPU") == cpus


def test_a_counter_wider_than_the_terminal_still_has_a_table() -> None:
    assert len([line for line in printed(reading(0, 1, cpus=2), None, width=12) if line]) > 0


def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A process in the agent's place that gives a chosen answer: what becomes of it is the subject."""
    path = tmp_path / "agent"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("RUNOFF_AGENT", str(path))


@pytest.mark.parametrize(
    ("end", "kind", "sentence"),
    [
        ("echo runoff-agent: no such mode >&2; exit 64", UsageError, "no such mode"),
        ("echo runoff-agent: no sched_ext >&2; exit 69", MissingError, "no sched_ext"),
        ("echo runoff-agent: ejected >&2; exit 1", RunoffError, "ejected"),
        ("kill -9 $$", RunoffError, "the agent was ended by signal 9; what it had attached is detached"),
    ],
)
def test_a_failure_keeps_the_agents_sentence_and_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, kind: type[RunoffError], sentence: str
) -> None:
    agent(tmp_path, monkeypatch, end)
    watch = Watch("attach", "hydra")
    with pytest.raises(RunoffError) as caught:
        counters.follow(watch, as_json=False)
    assert type(caught.value) is kind
    assert str(caught.value) == sentence


def test_where_there_is_no_terminal_readings_are_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"scheduler": "hydra", "statistics": STATISTICS}, reading(0, 1), reading(1.04, 7, cpus=2)]
    agent(tmp_path, monkeypatch, "\n".join(f"echo '{json.dumps(line)}'" for line in lines))
    counters.follow(Watch("stats"), as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "hydra  0 s  switches 1  busy_ns 1000000007",
        "hydra  1 s  switches 7  busy_ns 1000000007"
        "  CPU 0: switches 7  busy_ns 1000000007  CPU 1: switches 7  busy_ns 1000000007",
    ]
    counters.follow(Watch("stats"), as_json=True)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == lines[1:]


def test_facts_known_at_the_start_are_printed_once_before_the_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"scheduler": "hydra", "limited_groups": ["/a", "/b/c"], "long_turn": LONG_TURN}
    lines = [known, {"scheduler": "hydra", "statistics": STATISTICS}, reading(0, 1), reading(1, 2)]
    agent(tmp_path, monkeypatch, "\n".join(f"echo '{json.dumps(line)}'" for line in lines))
    watch = Watch("attach")
    counters.follow(watch, as_json=False, when_begun=lambda: print(*watch.limited_groups))
    assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()] == ["/a /b/c", "hydra", "hydra"]
    assert watch.long_turn == LONG_TURN


def test_attach_says_from_how_many_tasks_on_a_long_turn_makes_one_starve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for turn, expected in ((LONG_TURN, [LONG_TURN_SENTENCE]), (None, [])):
        known = {"scheduler": "hydra", "limited_groups": [], "long_turn": turn}
        lines = [known, {"scheduler": "hydra", "statistics": STATISTICS}, reading(0, 1)]
        agent(tmp_path, monkeypatch, "\n".join(f"echo '{json.dumps(line)}'" for line in lines))
        watch = Watch("attach")
        counters.follow(watch, as_json=False, when_begun=lambda watch=watch: warn("hydra", watch))
        assert capsys.readouterr().err.splitlines() == expected


def test_set_shows_what_the_running_scheduler_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {
        "scheduler": "hydra",
        "parameters": [
            {"name": "mode", "choices": ["pb", "eb"], "value": "eb", "sentence": "How.", "runtime": True},
            {"name": "hz", "unit": "1", "min": 1, "max": 9, "value": 3, "sentence": "Ticks.", "runtime": False},
        ],
    }
    agent(tmp_path, monkeypatch, f"echo '{json.dumps(document)}'")
    assert CliRunner().invoke(set_command, ["hydra"]).output.splitlines() == [
        "  mode=eb  (pb or eb)",
        "      How.",
        "  hz=3  (1..9, fixed once attached)",
        "      Ticks.",
    ]
    assert json.loads(CliRunner().invoke(set_command, ["hydra", "mode=eb", "--json"]).output) == document


def test_the_list_names_choices_and_fixed_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    parameters = [
        {"name": "mode", "choices": ["pb", "eb"], "default": "pb", "sentence": "How.", "runtime": True},
        {"name": "era", "choices": ["2.6.8", "2.6.31"], "default": "2.6.31", "sentence": "When.", "runtime": False},
    ]
    _print_whole(_scheduler({"name": "hydra", "sentence": "Three in one.", "parameters": parameters}), 80)
    assert capsys.readouterr().out.splitlines() == [
        "hydra: Three in one.",
        "  mode=pb  (pb or eb)",
        "      How.",
        "  era=2.6.31  (2.6.8 or 2.6.31, fixed once attached)",
        "      When.",
    ]


@pytest.mark.parametrize("name", ["default", "exec:true", "bfs@debian"])
def test_only_schedulers_of_objects_can_be_attached(name: str) -> None:
    result = CliRunner().invoke(attach, [name])
    assert isinstance(result.exception, UsageError)
    assert "cannot be attached" in str(result.exception)
