"""Services and benchmarks of other people really do their work in a guest, and their figures fit each other."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from command import run, samples

from runoff.engines.lab import image
from runoff.workloads import WORKLOADS

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("lab_kernel", "own_qemu"), pytest.mark.timeout(3600)]

NAMES = ("redis", "nginx", "pgbench", "sysbench", "stress-ng", "7zip", "fio", "rt-app")
SERVERS = ("redis", "nginx", "pgbench")
TASKS = {
    "tasks": {
        "fast": {"instance": 2, "run": 100, "timer": {"ref": "unique", "period": 10000, "mode": "absolute"}},
        "real": {"policy": "SCHED_FIFO", "priority": 5, "run": 100, "timer": {"ref": "r", "period": 20000}},
    },
    "global": {"duration": 1, "calibration": 20, "logdir": "./", "log_size": 2},
}
WORKS = (
    "redis:requests=5000",
    "redis:command=set,requests=5000,pipeline=8,size=1000,io_threads=2",
    "nginx:seconds=1,connections=8",
    "pgbench:seconds=1,clients=4",
    "pgbench:seconds=1,clients=4,script=select-only,scale=2",
    "sysbench:seconds=1",
    "sysbench:seconds=1,test=threads",
    "sysbench:events=1000,test=memory",
    "stress-ng:seconds=1",
    "stress-ng:seconds=1,stressor=fork,workers=1",
    "7zip",
    "fio:size_mb=2,mode=randrw",
    "fio:size_mb=2,mode=write,fsync=8,jobs=1",
)


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory, absent) -> dict[tuple[str, str], Mapping[str, float]]:
    """The metrics of each arm and workload."""
    if image.find_cached(image.derive_recipe([WORKLOADS.find(name) for name in NAMES])) is None:
        words = " ".join(f"--work {name}" for name in NAMES)
        absent(f"the image for services is not in the cache: runoff image build {words}")
    folder: Path = tmp_path_factory.mktemp("today")
    (folder / "tasks.json").write_text(json.dumps(TASKS))
    works = [word for work in (*WORKS, f"rt-app:file={folder / 'tasks.json'}") for word in ("--work", work)]
    lab = ("--on", "lab", "--clock", "virtual", "--cpus", "2", "--seed", "1", "--blocks", "1")
    done = run("compare", "default", "bfs", *works, *lab, "--out", folder / "c", "--json")
    found = samples(done.stdout).values()
    assert {(each["arm"], each["workload"]): each["reason"] for each in found if not each["valid"]} == {}
    return {(each["arm"], each["workload"]): each["metrics"] for each in found}


def of(taken: dict[tuple[str, str], Mapping[str, float]], work: str) -> list[Mapping[str, float]]:
    found = [metrics for (_, label), metrics in taken.items() if label.startswith(work)]
    assert len(found) >= 2
    return found


def test_each_was_measured_under_both(taken) -> None:
    assert len(taken) == 2 * (len(WORKS) + 1)


def test_servers_are_counted_apart(taken) -> None:
    for (_, label), metrics in taken.items():
        is_served = label.startswith(SERVERS)
        assert ("server_user_s" in metrics) == is_served
        if is_served:
            assert metrics["server_user_s"] > 0
            assert metrics["server_system_s"] > 0
            # Two CPUs are all there is.
            assert metrics["server_cpu_pct"] + metrics["cpu_pct"] <= 203


@pytest.mark.parametrize(
    ("work", "smallest", "largest"),
    [
        ("redis", "request_p50_ms", "request_max_ms"),
        ("nginx", "request_p50_ms", "request_p99_ms"),
        ("pgbench", "transaction_p50_ms", "transaction_max_ms"),
        ("sysbench", "event_mean_ms", "event_max_ms"),
        ("rt-app", "wakeup_p50_us", "wakeup_max_us"),
    ],
)
def test_latencies_are_in_order(taken, work: str, smallest: str, largest: str) -> None:
    for metrics in of(taken, work):
        ranked = [value for name, value in metrics.items() if name in (smallest, largest) or "_p9" in name]
        assert metrics[smallest] <= metrics[largest]
        assert max(ranked) <= metrics[largest], metrics


@pytest.mark.parametrize(
    ("work", "rate", "count"),
    [
        ("nginx", "requests_per_s", "requests"),
        ("pgbench", "transactions_per_s", "transactions"),
        ("sysbench:seconds=1", "events_per_s", "events"),
        ("stress-ng", "rounds_per_s", "rounds"),
    ],
)
def test_a_rate_is_what_was_counted_in_a_second(taken, work: str, rate: str, count: str) -> None:
    for metrics in of(taken, work):
        assert metrics[rate] == pytest.approx(metrics[count], rel=0.15)


def test_fio_moves_what_it_was_told(taken) -> None:
    mixed = of(taken, "fio:mode=randrw")
    assert all(metrics["read_iops"] > 0 and metrics["write_iops"] > 0 for metrics in mixed)
    for metrics in of(taken, "fio:mode=write"):
        assert "read_iops" not in metrics
        assert metrics["write_mean_ns"] <= metrics["write_max_ns"]


def test_tasks_have_their_periods(taken) -> None:
    for metrics in of(taken, "rt-app"):
        # Two tasks every 10 ms and one every 20 ms, for a second.
        assert metrics["periods"] == pytest.approx(250, abs=6)
        assert 0 <= metrics["missed_pct"] <= 100
