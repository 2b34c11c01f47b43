"""Settings as arms on a kernel of today: they are in force, they show in what is measured, and are put back."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from campaign_rows import rows
from command import run, samples

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("lab_kernel", "lab_image", "own_qemu")]

LAB = ("--on", "lab", "--clock", "virtual", "--cpus", "2", "--seed", "1")
RETRANS = "sysctl.net.ipv4.neigh.default.retrans_time_ms"
"""Kept in ticks of 4 ms by Debian's kernel."""


def seen(directory: Path) -> dict[str, list[dict[str, Any]]]:
    """What the settings of each arm were and are, by its label."""
    return {row["arm"]: row["proof"]["settings"] for row in rows(directory)}


@pytest.mark.core
def test_settings_are_in_force_and_a_number_that_was_rounded_is_told(tmp_path: Path) -> None:
    arms = ("default", "default+smt=off", f"default+{RETRANS}=1001", "bfs+thp=never+sched.features=NO_RUN_TO_PARITY")
    words = ("--work", "counters:n=2", "--topology", "cores=1,threads=2", "--blocks", "1")
    done = run("compare", *arms, *words, *LAB, "--out", tmp_path / "c", "--json")
    taken = {sample["arm"]: sample for sample in samples(done.stdout).values()}
    assert all(sample["valid"] for sample in taken.values()), taken
    assert seen(tmp_path / "c") == {
        "default": [],
        "default+smt=off": [{"of": "machine", "name": "smt", "wanted": "off", "was": "on", "is": "off"}],
        f"default+{RETRANS}=1001": [{"of": "machine", "name": RETRANS, "wanted": "1001", "was": "1000", "is": "1004"}],
        arms[3]: [
            {"of": "machine", "name": "thp", "wanted": "never", "was": "always", "is": "never"},
            {
                "of": "machine",
                "name": "sched.features",
                "wanted": "NO_RUN_TO_PARITY",
                "was": "RUN_TO_PARITY",
                "is": "NO_RUN_TO_PARITY",
            },
        ],
    }
    # Two processes that count, on the one thread that is left of the core.
    times = {arm: sample["metrics"]["elapsed_s"] for arm, sample in taken.items()}
    assert 1.8 < times["smt=off"] / times["default"] < 2.2
    said = f"the kernel has rounded settings of default+{RETRANS}=1001: {RETRANS}=1001 is 1004"
    assert said in " ".join(run("report", tmp_path / "c").stdout.split())


def take(folder: Path, arms: tuple[str, ...], *words: str) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """The seconds of two processes that count, on two CPUs, by arm; and the report."""
    done = run("compare", *arms, "--work", "counters:n=2", *words, *LAB, "--out", folder, "--json")
    document = json.loads(done.stdout)
    times: dict[str, list[float]] = {}
    for sample in document["samples"]:
        assert sample["valid"], sample
        times.setdefault(sample["arm"], []).append(sample["metrics"]["elapsed_s"])
    return times, document


@pytest.mark.core
def test_settings_of_work_hold_for_it_and_its_group(tmp_path: Path) -> None:
    """Half a CPU for both is four times the time."""
    arms = (
        "default", "default+nice=10+policy=batch", "default+quota=50%", "default+cpuset=1", "bfs+quota=0.5",
        "bfs+cpuset=1", "cfs+cpuset=0",
    )  # fmt: skip
    times, document = take(tmp_path / "c", arms, "--blocks", "1")
    alone = {arm: each[0] / times["default"][0] for arm, each in times.items()}
    assert 0.95 < alone["default+nice=10+policy=batch"] < 1.05
    assert all(1.9 < alone[arm] < 2.1 for arm in ("cpuset=1", "bfs+cpuset=1", "cfs+cpuset=0")), alone
    assert 3.6 < alone["quota=50%"] < 4.2
    assert 0.9 < alone["bfs+quota=0.5"] < 1.1
    told = [warning for warning in document["warnings"] if "does nothing" in warning]
    assert len(told) == 1, document["warnings"]
    assert told[0].startswith("quota=50% does nothing under bfs+quota=0.5")
    metrics = {each["arm"]: each["metrics"] for each in document["samples"]}
    limited, unlimited = metrics["quota=50%"], metrics["bfs+quota=0.5"]
    # Two processes that always want to run, with half a CPU for both.
    assert 95 < limited["quota_used_pct"] < 105 < 350 < unlimited["quota_used_pct"] < 405
    assert limited["quota_left_s"] < 0.1 * limited["elapsed_s"]
    assert unlimited["quota_left_s"] == unlimited["throttled_s"] == 0
    # Most of the time both of them wait.
    assert 1.2 < limited["throttled_s"] / limited["elapsed_s"] < 1.8
    assert not {"quota_used_pct", "throttled_s"} & set(metrics["default"])


def test_a_load_in_a_light_group_takes_less_of_a_scheduler_that_shares_among_groups(tmp_path: Path) -> None:
    """A group of weight 20 takes a sixth of what counts beside it; bfs shares among tasks, of which it has half.

    The kernel's own scheduler moves tasks between CPUs now and then, so that one run takes 1.3 to 1.7 times as long.
    """
    arms = ("default", "default+quota=max", "bfs+quota=0.5")
    alone, _ = take(tmp_path / "a", arms, "--blocks", "1")
    beside, document = take(tmp_path / "b", arms, "--load", "burn+weight=20", "--blocks", "2")
    ratios = {arm: sum(each) / len(each) / alone[arm][0] for arm, each in beside.items()}
    assert ratios["default"] < 1.75 < 1.9 < ratios["bfs+quota=0.5"] < 2.1, ratios
    shares: dict[str, list[float]] = {}
    for each in document["samples"]:
        shares.setdefault(each["arm"], []).append(each["metrics"]["share_pct"])
        assert round(each["metrics"]["share_asked_pct"], 1) == 83.3
    assert all(45 < share < 50 for share in shares["bfs+quota=0.5"]), shares
    assert sum(shares["default"]) / 2 > 55, shares
    of_load = {"of": "load", "name": "weight", "wanted": "20", "was": "100", "is": "20"}
    proven = seen(tmp_path / "b")
    assert proven["default"] == [of_load]
    assert proven["default+quota=max"] == [
        {"of": "workload", "name": "quota", "wanted": "max", "was": "max", "is": "max"}, of_load
    ]  # fmt: skip
    told = [warning for warning in document["warnings"] if "do nothing" in warning]
    assert len(told) == 1, document["warnings"]
    assert told[0].startswith("quota=50%, weight=20 of the load do nothing under bfs+quota=0.5")


@pytest.mark.core
def test_a_kernel_is_booted_with_words_that_it_knows(tmp_path: Path) -> None:
    arms = ("default", "default+cmdline=preempt=lazy threadirqs", "bfs+cmdline=preempt=lazy")
    words = ("--work", "counters:n=1", "--blocks", "1", *LAB)
    done = run("compare", *arms, *words, "--out", tmp_path / "c", "--json")
    assert all(sample["valid"] for sample in samples(done.stdout).values())
    booted = {arm: [each["is"] for each in settings] for arm, settings in seen(tmp_path / "c").items()}
    assert booted == {arms[0]: [], arms[1]: ["preempt=lazy threadirqs"], arms[2]: ["preempt=lazy"]}
    lines = [table["kernel"]["command_line"] for table in guests(json.loads(done.stdout)["fingerprint"])]
    assert [line.partition("trust_cpu=off")[2] for line in lines] == ["", " preempt=lazy", " preempt=lazy threadirqs"]
    refused = run("compare", "default", "default+cmdline=schedul=1", *words, "--out", tmp_path / "d", expect=64)
    assert "the kernel says: Unknown kernel command line parameters" in refused.stderr


def test_what_cannot_be_undone_is_refused(tmp_path: Path) -> None:
    """The kernel takes a 1 for good: not even the 0 that it has."""
    arm = "default+sysctl.kernel.modules_disabled=1"
    words = ("--work", "counters:n=1", "--blocks", "1", *LAB, "--out", tmp_path / "c")
    refused = run("compare", "default", arm, *words, expect=64)
    assert 'the kernel does not take its present value "0" back' in refused.stderr


def guests(fingerprint: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables of each guest, the usual one first."""
    return [fingerprint, *(table for name, table in fingerprint.items() if name.startswith("guest with "))]


def judge(arms: tuple[str, ...], folder: Path) -> dict[tuple[str, str], str]:
    """The verdicts of a campaign, by metric and arm."""
    work = "schbench:workers=6,operations=1,footprint_kb=32,warm_up_s=0,seconds=1"
    done = run("compare", *arms, "--work", work, "--blocks", "5", *LAB, "--out", folder, "--json")
    document = json.loads(done.stdout)
    assert all(sample["valid"] for sample in document["samples"])
    return {
        (table["metric"]["name"], each["arm"]): each["verdict"]
        for table in document["tables"]
        for each in table["arms"]
        if table["metric"]["headline"] and each["verdict"] is not None
    }


def test_a_long_slice_is_found_and_two_spellings_of_it_are_not(tmp_path: Path) -> None:
    short, long = "default+sched.base_slice_ns=20ms", "default+sched.base_slice_ns=20000000"
    found = judge(("default", short), tmp_path / "c")
    assert set(found.values()) == {"worse"}, found
    alike = judge((short, long), tmp_path / "d")
    assert not {"better", "worse"} & set(alike.values()), alike


def test_real_time_work_is_told_to_be_none_of_the_schedulers(tmp_path: Path) -> None:
    words = ("--work", "counters:n=2", "--blocks", "2", *LAB, "--out", tmp_path / "c")
    run("compare", "default+policy=rr", "bfs+policy=rr", "bfs", *words)
    said = " ".join(run("report", tmp_path / "c").stdout.split())
    told = "threads that were looked at were real-time ones, which were never the scheduler's under bfs+policy=rr: no"
    assert re.search(rf"counters:n=2: up to ([0-9]+) of \1 {re.escape(told)}", said), said
