"""Probes on a real kernel: what they count is what known work does, under any scheduler."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hogs
import pytest
from command import run, samples
from copies import LIMIT_S, Copies, MakeCopies

from runoff.engines.lab import guest
from runoff.engines.outcome import ValidSample
from runoff.engines.questions import describe_metrics
from runoff.plan.probes import PROBES
from runoff.results import PROBE_COST

pytestmark = [pytest.mark.lab, pytest.mark.core]

ALL = list(PROBES)
SECONDS = 2.0
STUCK = "/objects/stuck.bpf.o"
"""choosy with the queue of each CPU: a task stays for ever where it was when it was started."""

Metrics = Mapping[str, float]


def request(scheduler: dict[str, Any], *words: str, probes: list[str], wakeups: bool = False) -> dict[str, Any]:
    extract = [{"metric": "own_wakeups", "find": {"pattern": r'"wakeups":(\d+)'}}] if wakeups else []
    return {
        "type": "sample",
        "id": " ".join(words),
        "scheduler": scheduler,
        "probes": probes,
        "workload": {
            "name": "known",
            "root": None,
            "prepare": [],
            "command": ["runoff-agent", *words],
            "environment": {},
            "timeout_s": LIMIT_S,
            "extract": extract,
        },
    }


def measure(running: Copies, scheduler: str, *words: str, **options: Any) -> Metrics:
    described = hogs.described(scheduler)
    if scheduler == "stuck":
        described = {"kind": "object", "path": STUCK, "parameters": {"queue": "cpu"}}
    order = request(described, *words, **{"probes": ALL, **options})
    outcome = running.take(order)
    assert isinstance(outcome, ValidSample), outcome
    return outcome.metrics


def spin(count: int, *words: str) -> tuple[str, ...]:
    return ("hogs", f"--nice={','.join(['0'] * count)}", f"--seconds={SECONDS}", *words)


@pytest.fixture(scope="module")
def on_two_cpus(copies: MakeCopies, test_objects: Path) -> Copies:
    return copies(cpus=2, instruction_shift=2, cargo=guest.Cargo(files={STUCK: test_objects / "choosy.bpf.o"}))


def moves(seen: Metrics) -> float:
    return sum(value for name, value in seen.items() if name.startswith("migrations_"))


@pytest.mark.parametrize("scheduler", ["default", "bfs"])
def test_counts_are_those_of_the_kernel(scheduler: str, on_two_cpus: Copies) -> None:
    seen = measure(on_two_cpus, scheduler, *spin(3))
    # The last switch of all, and one that a signal has called off, are the kernel's only.
    few = 5
    assert abs(seen["preemptions"] - seen["involuntary_switches"]) <= few
    assert abs(seen["turns"] - seen["voluntary_switches"] - seen["involuntary_switches"]) <= few
    # The kernel counts a task that was taken to another CPU and back before it ran as moved.
    assert 0 < moves(seen) <= seen["migrations"]
    on_cpu_s = seen["turns"] * seen["turn_mean_us"] / 1e6
    assert on_cpu_s == pytest.approx(seen["user_s"] + seen["system_s"], rel=0.1)
    assert 0 < seen[PROBE_COST] < 50


def test_only_a_sched_ext_scheduler_has_a_run_time(on_two_cpus: Copies) -> None:
    own = measure(on_two_cpus, "default", *spin(1), probes=["scheduler"])
    assert not any(name.startswith("scheduler_") for name in own)
    bfs = measure(on_two_cpus, "bfs", *spin(1), probes=["scheduler"])
    assert bfs["scheduler_calls"] > 0
    assert 0 < bfs["scheduler_time_s"] < bfs["elapsed_s"]


def test_a_cpu_that_is_left_idle_is_seen(on_two_cpus: Copies) -> None:
    stuck = measure(on_two_cpus, "stuck", *spin(2))
    assert stuck["idle_while_waiting_s"] >= 0.95 * SECONDS
    # The two take turns with one CPU while the other has nothing to do.
    assert stuck["idle_while_waiting_longest_s"] > 0.002
    for scheduler in ("default", "bfs"):
        balanced = measure(on_two_cpus, scheduler, *spin(2), probes=["idle"])
        assert balanced["idle_while_waiting_s"] <= 0.01 * SECONDS
        assert 0 < balanced["idle_while_waiting_longest_s"] < 0.004


def test_tasks_bound_to_a_cpu_do_not_wait_for_another(on_two_cpus: Copies) -> None:
    bound = measure(on_two_cpus, "default", *spin(2, "--cpu=0"))
    assert bound["runqueue_wait_s"] >= 0.95 * SECONDS
    assert bound["idle_while_waiting_s"] <= 0.01 * SECONDS
    assert bound["idle_while_waiting_longest_s"] < 0.004


def test_every_waking_of_a_sleeper_is_seen(on_two_cpus: Copies) -> None:
    seen = measure(on_two_cpus, "default", *spin(1, "--sleeper-ms=10"), probes=["wakeups"], wakeups=True)
    # Starting and ending the processes wakes too.
    assert seen["own_wakeups"] <= seen["wakeups"] <= 2 * seen["own_wakeups"]
    assert seen["wakeup_latency_p50_us"] <= seen["wakeup_latency_p99_us"] <= seen["wakeup_latency_max_us"]


def test_without_probes_nothing_is_observed(on_two_cpus: Copies) -> None:
    added = {metric.name for metric in describe_metrics().list_probe_metrics(PROBES)}
    assert not added & measure(on_two_cpus, "bfs", *spin(1), probes=[]).keys()


def test_two_runs_of_one_plan_with_probes_are_equal_to_the_last_digit(tmp_path: Path, lab_kernel) -> None:
    plan = (
        "default", "bfs", "--work", "counters:n=2,count=2000000,passes=1", "--probe", "all",
        "--clock", "virtual", "--cpus", "1", "--memory", "512", "--blocks", "1", "-j", "2",
    )  # fmt: skip
    first, second = (
        samples(run("compare", "--seed", "1", *plan, "--out", tmp_path / name, "--json").stdout) for name in "12"
    )
    for cell, sample in first.items():
        assert sample["valid"], sample["reason"]
        assert sample["metrics"] == second[cell]["metrics"], cell
        assert sample["metrics"]["turns"] > 0
        assert 1 < sample["metrics"]["ideal_ratio"] < 1.2, "one CPU is never left idle"
