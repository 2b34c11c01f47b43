"""BFS on a real kernel does what specs/schedulers/bfs.md section 13 says, with its numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runoff.engines.lab import guest, kernel, qemu
from runoff.engines.outcome import Taken

pytestmark = [pytest.mark.lab, pytest.mark.slow]

BFS = {"kind": "builtin", "name": "bfs", "parameters": {}}
SECONDS = 4
LIMIT_S = 600

QUOTA_MS = 8.0
"""6.29 ms end on a tick, which comes each 4 ms at HZ=250 (section 8)."""


@dataclass(frozen=True)
class Hogs:
    """Processes that only use the CPU, at these nice levels."""

    nice: tuple[int, ...]
    seconds: int = SECONDS

    @property
    def request(self) -> dict[str, Any]:
        levels = ",".join(map(str, self.nice))
        names = [
            (f"{name}{index}", name, index) for index in range(len(self.nice)) for name in ("cpu_s", "longest_gap_ms")
        ]
        return {
            "type": "sample",
            "id": levels,
            "scheduler": BFS,
            "workload": {
                "name": "hogs",
                "root": None,
                "prepare": [],
                "command": ["runoff-agent", "hogs", f"--nice={levels}", f"--seconds={self.seconds}"],
                "environment": {},
                "timeout_s": LIMIT_S,
                "extract": [{"metric": metric, "pattern": _pattern(name, index)} for metric, name, index in names],
            },
        }

    def shares_pct(self, metrics: dict[str, float]) -> list[float]:
        return [100 * metrics[f"cpu_s{index}"] / metrics["elapsed_s"] for index in range(len(self.nice))]


def _pattern(name: str, index: int) -> str:
    return rf'"hogs":\[(?:\{{[^{{}}]*\}},){{{index}}}\{{[^{{}}]*"{name}":([0-9.]+)'


@contextmanager
def booted(folder: Path, used: kernel.Kernel, *, cpus: int, requests: Sequence[Hogs] | None) -> Iterator[guest.Guest]:
    """A guest; under the virtual clock when its requests are given beforehand."""
    machine = qemu.Machine(
        kernel=used.vmlinux,
        initramfs=folder / "initramfs",
        console=folder / "console.txt",
        cpus=cpus,
        memory_mb=512,
        clock="real" if requests is None else "virtual",
        accelerator="tcg",
    )
    orders = guest.Orders() if requests is None else guest.Orders(seed=1, requests=[hogs.request for hogs in requests])
    running = guest.boot(folder, machine, used, guest.Cargo(), orders, LIMIT_S)
    try:
        yield running
    finally:
        running.close()
    assert "WARNING" not in machine.console.read_text(errors="replace")


def measure(running: guest.Guest, hogs: Hogs) -> dict[str, float]:
    outcome = running.agent.take(hogs.request, lambda _phase: None, LIMIT_S)
    assert isinstance(outcome, Taken), outcome
    assert outcome.proof["before"]["ops"] == "bfs"
    assert outcome.proof["threads_checked"] > outcome.proof["threads_outside"] == 0
    return dict(outcome.metrics)


NICE_PAIRS = {
    (0, 0): (50.0, 50.0),
    (0, 5): (80.0, 20.0),
    (0, 10): (91.7, 8.3),
    (0, 19): (97.1, 2.9),
    (-10, 0): (80.0, 20.0),
}
"""Percent of the CPU for two hogs: the exact rule of section 13."""

TOLERANCE_POINTS = 3.0

TRIPLE = Hogs((0, 0, 19))


@pytest.fixture(scope="module")
def on_one_cpu(tmp_path_factory: pytest.TempPathFactory, lab_kernel: kernel.Kernel) -> dict[tuple[int, ...], Any]:
    """All measurements under the virtual clock, taken in one boot: (hogs, metrics) by nice levels."""
    wanted = [*map(Hogs, NICE_PAIRS), TRIPLE]
    with booted(tmp_path_factory.mktemp("virtual"), lab_kernel, cpus=1, requests=wanted) as running:
        return {hogs.nice: (hogs, measure(running, hogs)) for hogs in wanted}


@pytest.mark.parametrize("nice", NICE_PAIRS)
def test_two_hogs_share_one_cpu_by_nice(nice: tuple[int, int], on_one_cpu: dict[tuple[int, ...], Any]) -> None:
    hogs, metrics = on_one_cpu[nice]
    for share, expected in zip(hogs.shares_pct(metrics), NICE_PAIRS[nice], strict=True):
        assert abs(share - expected) <= TOLERANCE_POINTS


def test_equal_hogs_get_equal_shares(on_one_cpu: dict[tuple[int, ...], Any]) -> None:
    hogs, metrics = on_one_cpu[0, 0]
    first, second = hogs.shares_pct(metrics)
    assert abs(first - second) < 1.0


def test_three_hogs_share_as_simulated(on_one_cpu: dict[tuple[int, ...], Any]) -> None:
    hogs, metrics = on_one_cpu[TRIPLE.nice]
    for share, expected in zip(hogs.shares_pct(metrics), (48.6, 48.6, 2.8), strict=True):
        assert abs(share - expected) <= TOLERANCE_POINTS


@pytest.mark.parametrize("nice", [(0, 19), TRIPLE.nice])
def test_a_nice_19_hog_waits_no_longer_than_its_deadline(
    nice: tuple[int, ...], on_one_cpu: dict[tuple[int, ...], Any]
) -> None:
    hogs, metrics = on_one_cpu[nice]
    last = len(hogs.nice) - 1
    assert metrics[f"longest_gap_ms{last}"] <= 250.1 + len(hogs.nice) * QUOTA_MS


@pytest.fixture(scope="module")
def on_two_cpus(tmp_path_factory: pytest.TempPathFactory, lab_kernel: kernel.Kernel) -> Iterator[guest.Guest]:
    with booted(tmp_path_factory.mktemp("real"), lab_kernel, cpus=2, requests=None) as running:
        yield running


@pytest.mark.parametrize("count", [2, 3, 4])
def test_no_cpu_is_idle_while_work_waits(count: int, on_two_cpus: guest.Guest) -> None:
    hogs = Hogs((0,) * count, seconds=5)
    shares = hogs.shares_pct(measure(on_two_cpus, hogs))
    # The command's start and end are inside the elapsed time: under emulation some tens of milliseconds.
    assert sum(shares) >= 190.0, shares
    assert min(shares) >= 100.0 * min(1.0, 2 / count) / 2, shares


def test_four_equal_hogs_get_equal_shares_of_two_cpus(on_two_cpus: guest.Guest) -> None:
    hogs = Hogs((0, 0, 0, 0), seconds=10)
    shares = hogs.shares_pct(measure(on_two_cpus, hogs))
    assert max(shares) - min(shares) <= 2 * TOLERANCE_POINTS, shares
