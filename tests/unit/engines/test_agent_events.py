"""Events from an agent are accepted only if they match the agent's own schema exactly."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from runoff.engines.agent import Agent, AgentLost
from runoff.engines.outcome import ValidSample, VoidSample

STATE = {"state": "enabled", "ops": "bfs", "enable_seq": 3, "nr_rejected": 0, "switch_all": 1}
PROOF = {
    "before": STATE,
    "after": STATE,
    "threads_checked": 7,
    "threads_outside": 0,
    "threads_realtime": 0,
    "threads_unjudged": 0,
    "sub_schedulers": [],
    "cpu_limits": {"found": [], "unwatched": "", "applied": False},
    "settings": [],
    "unreadable": "",
    "attached": {"ops": "bfs", "enable_seq": 3},
    "kernel_log": ["sched_ext: bfs enabled"],
    "object": "ef0cca",
}
SAMPLE = {"type": "sample", "id": "b0", "metrics": {"elapsed_s": 1.5, "migrations": 3}, "proof": PROOF}
VOID = {"type": "void", "id": "b0", "reason": "ejected", "detail": "log", "stopped": False, "proof": None}


def taken(tmp_path: Path, *lines: str) -> ValidSample | VoidSample:
    """The result of lines from a process in the agent's place."""
    (tmp_path / "events").write_text("".join(f"{line}\n" for line in lines))
    program = tmp_path / "agent"
    program.write_text(f"#!/bin/sh\nexec cat {tmp_path}/events\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    speaker = Agent([program], requests=False)
    try:
        return speaker.take({"id": "b0"}, lambda _: None, timeout_s=30)
    finally:
        speaker.close()


def refused(tmp_path: Path, line: str) -> str:
    with pytest.raises(AgentLost) as caught:
        taken(tmp_path, line)
    assert len(str(caught.value)) < 400
    return str(caught.value)


def changed(*path: str, value: Any) -> str:
    """The sample with another value at ``path``."""
    event: dict[str, Any] = json.loads(json.dumps(SAMPLE))
    place = event
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(event)


def test_events_as_agreed_are_taken(tmp_path: Path) -> None:
    progress = json.dumps({"type": "progress", "id": "b0", "phase": "run"})
    log = json.dumps({"type": "requests", "id": "b0", "text": "a\tb\n"})
    assert taken(tmp_path, progress, log, json.dumps(SAMPLE)) == ValidSample(SAMPLE["metrics"], PROOF, "a\tb\n")
    assert taken(tmp_path, json.dumps(VOID)) == VoidSample("ejected", "log", None)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_value_that_is_not_a_number_is_refused_anywhere(tmp_path: Path, number: str) -> None:
    sample = changed("metrics", "elapsed_s", value="HERE").replace('"HERE"', number)
    assert refused(tmp_path, sample) == f"not an event: {number} is not a number"
    hello = json.dumps({"type": "hello", "protocol": 4, "version": "1", "fingerprint": {"cpus": "HERE"}})
    hello = hello.replace('"HERE"', number)
    assert refused(tmp_path, hello) == f"not an event: {number} is not a number"


@pytest.mark.parametrize(
    ("line", "place", "what"),
    [
        (changed("metrics", "elapsed_s", value=None), "$.metrics.elapsed_s", "None is not of type 'number'"),
        (changed("metrics", "elapsed_s", value="1.5"), "$.metrics.elapsed_s", "'1.5' is not of type 'number'"),
        (changed("metrics", "elapsed_s", value=True), "$.metrics.elapsed_s", "True is not of type 'number'"),
        (changed("metrics", value=[]), "$.metrics", "[] is not of type 'object'"),
        (changed("id", value=0), "$.id", "0 is not of type 'string'"),
        (changed("proof", "threads_checked", value=7.0), "$.proof.threads_checked", "7.0 is not of type 'integer'"),
        (changed("proof", "threads_checked", value=True), "$.proof.threads_checked", "True is not of type 'integer'"),
        (changed("proof", "threads_checked", value="7"), "$.proof.threads_checked", "'7' is not of type 'integer'"),
        (changed("proof", "threads_outside", value=-1), "$.proof.threads_outside", "-1 is less than the minimum of 0"),
        (changed("proof", "before", "enable_seq", value=3.0), "$.proof.before.enable_seq", "3.0 is not of type"),
        (changed("proof", "kernel_log", value=[1]), "$.proof.kernel_log[0]", "1 is not of type 'string'"),
        (changed("colour", value="red"), "$", "('colour' was unexpected)"),
        (changed("proof", "colour", value="red"), "$.proof", "('colour' was unexpected)"),
        (json.dumps({**VOID, "reason": None}), "$.reason", "None is not of type 'string'"),
        (json.dumps({"type": "progress", "id": "b0", "phase": "lunch"}), "$.phase", "'lunch' is not one of"),
        (json.dumps({"type": "sample", "id": "b0"}), "$", "is a required property"),
        (json.dumps({"type": "song"}), "$.type", "'song' is not one of"),
        (json.dumps({"id": "b0"}), "$", "'type' is a required property"),
        ("[]", "$", "[] is not of type 'object'"),
        ("5", "$", "5 is not of type 'object'"),
    ],
)
def test_an_event_of_another_kind_is_refused_with_its_place(tmp_path: Path, line: str, place: str, what: str) -> None:
    text = refused(tmp_path, line)
    assert text.startswith(f"an event that the schema does not know: {place}: ")
    assert what in text


@pytest.mark.parametrize("line", ["hello", "{", '{"type": "bye"} more', "[" * 100_000, "1" * 5000, "\x00"])
def test_a_line_that_is_not_an_event_is_refused(tmp_path: Path, line: str) -> None:
    assert refused(tmp_path, line).startswith("not an event: ")
