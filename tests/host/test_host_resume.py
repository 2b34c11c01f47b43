"""A campaign on the host that goes on when something has changed: what it keeps, what it refuses, what it tells."""

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import journals
import psutil
import pytest
from campaign_rows import rows
from command import run, samples, start
from waiting import LIMIT_S, wait_until

from runoff.engines.agent import find_agent

pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]

WORK = """title = "test"
description = "A test."
command = ["sh", "-c", "echo value {value} jobs {cpus_seen}"]
{programs}
[parameters.cpus_seen]
about = "CPUs"
default = "{{cpus}}"
[metrics.value]
pattern = "value ([0-9]+)"
unit = ""
direction = "lower"
title = "value"
[metrics.jobs]
pattern = "jobs ([0-9]+)"
unit = ""
direction = "none"
title = "jobs"
headline = false
"""


def work(path: Path, value: int, programs: str = "") -> None:
    """A workload that says ``value``."""
    path.write_text(
        WORK.replace("{value}", str(value)).replace("{programs}", programs).replace("{{", "{").replace("}}", "}")
    )


def test_a_sample_whose_agent_is_ended_with_runoff_is_taken_again(tmp_path: Path) -> None:
    """As a shutdown does that waits for nothing: it tells both at once."""
    begun, go_on = tmp_path / "begun", tmp_path / "go_on"
    text = f"touch {begun}; until test -e {go_on}; do sleep 0.1; done; echo value 1 jobs 1"
    work(tmp_path / "work.toml", 1)
    whole = (tmp_path / "work.toml").read_text().replace("echo value 1 jobs {cpus_seen}", text)
    (tmp_path / "work.toml").write_text(whole)
    campaign = start("compare", "default", "--on", "host", "--work", tmp_path / "work.toml", "--blocks", "2",
                     "--out", tmp_path / "c")  # fmt: skip
    wait_until(begun.exists)
    agents = psutil.Process(campaign.pid).children()
    campaign.send_signal(signal.SIGTERM)
    for agent in agents:
        agent.send_signal(signal.SIGTERM)
    assert campaign.wait(LIMIT_S) == 130
    assert rows(tmp_path / "c") == []
    go_on.touch()
    run("resume", tmp_path / "c")
    assert [row["valid"] for row in rows(tmp_path / "c")] == [True, True]


@pytest.fixture
def halved(tmp_path: Path) -> Path:
    """A campaign with only the first of two blocks, and ``work.toml`` next to it."""
    work(tmp_path / "work.toml", 1)
    return begin(tmp_path)


def begin(folder: Path) -> Path:
    run("compare", "default", "--on", "host", "--work", folder / "work.toml", "--blocks", "2", "--out", folder / "c")
    journals.keep_first_block(folder / "c")
    return folder / "c"


def document(campaign: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("report", campaign, "--json").stdout)
    return found


def edited(campaign: Path, table: str, key: str, value: str) -> None:
    """Makes the first part look as if it had been taken with another ``key``."""
    known = parts(campaign)
    known[0][table][key] = value
    journals.forge_fact(campaign, "parts", json.dumps(known))


def values(campaign: Path) -> list[float]:
    return [row["metrics"]["value"] for row in rows(campaign)]


def test_where_nothing_changed_nothing_is_said(halved: Path) -> None:
    done = run("resume", halved)
    assert "not what the campaign began with" not in done.stderr
    assert "not all samples were taken" not in done.stdout
    assert [row["part"] for row in rows(halved)] == [0, 1]


def test_an_edited_workload_goes_on_as_it_began(halved: Path) -> None:
    work(halved.parent / "work.toml", 5)
    done = run("resume", halved)
    assert f"the workload {halved.parent}/work.toml is not what the campaign began with (sha256 was " in done.stderr
    assert "it goes on with what it has kept" in done.stderr
    assert values(halved) == [1, 1]


def test_a_workload_that_is_gone_is_not_missed(halved: Path) -> None:
    (halved.parent / "work.toml").unlink()
    done = run("resume", halved)
    assert "is gone): it goes on with what it has kept" in done.stderr
    assert values(halved) == [1, 1]


def test_cpus_are_those_that_it_began_with(halved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.sched_getaffinity(0)
    if len(here) == 1:
        pytest.skip("needs two CPUs")
    os.sched_setaffinity(0, {min(here)})
    try:
        run("resume", halved)
    finally:
        os.sched_setaffinity(0, here)
    assert [row["metrics"]["jobs"] for row in rows(halved)] == [len(here)] * 2


def test_another_agent_is_reported_first_with_the_blocks_of_each(halved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = halved.parent / "agent"
    shutil.copy(find_agent(), other)
    with other.open("ab") as file:
        file.write(b"\0")
    monkeypatch.setenv("RUNOFF_AGENT", str(other))
    run("resume", halved)
    first, second = (part["agent"]["sha256"][:12] for part in parts(halved))
    assert first != second
    told = f"not all samples were taken with the same agent: sha256 {first} in block 1; sha256 {second} in block 2"
    assert document(halved)["warnings"][0] == told
    assert [sample["valid"] for sample in document(halved)["samples"]] == [True, True]


def parts(campaign: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = journals.read_fact(campaign, "parts")
    return found


def test_another_tool_is_reported_with_the_blocks_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "mytool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    work(tmp_path / "work.toml", 1, 'programs = ["mytool"]')
    campaign = begin(tmp_path)
    tool.write_text("#!/bin/sh\n# another\n")
    run("resume", campaign)
    told = document(campaign)["warnings"][0]
    assert told.startswith("not all samples were taken with the same tools: mytool ")
    assert told.endswith(" in block 2")


@pytest.mark.parametrize("key", ["release", "config_sha256", "command_line"])
def test_another_kernel_is_refused_and_the_samples_are_kept(halved: Path, key: str) -> None:
    """A kernel that is booted between the parts, as the journal of the part before it would be."""
    edited(halved, "kernel", key, "0" * 64 if "sha256" in key else "5.4.0-old")
    done = run("resume", halved, expect=64)
    was = "000000000000" if "sha256" in key else "5.4.0-old"
    assert f"this campaign began with another kernel ({key} was {was}, is " in done.stderr
    assert "bring that back, or begin a new campaign" in done.stderr
    assert list(samples(run("report", halved, "--json").stdout)) == ["b0.w0.a0"]


def test_the_time_of_a_block_is_that_of_its_samples(tmp_path: Path) -> None:
    from runoff.campaign.directory import read_results

    slow = tmp_path / "slow.toml"
    slow.write_text('title = "t"\ndescription = "d"\ncommand = ["sleep", "0.5"]\nelapsed_headline = true\n')
    run("compare", "-n", "a=default", "-n", "b=default", "--on", "host", "--work", slow, "--blocks", "2",
        "--out", tmp_path / "c")  # fmt: skip
    seconds = read_results(tmp_path / "c").seconds_per_block
    assert seconds is not None
    assert 1.0 < seconds < 20
