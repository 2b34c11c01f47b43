"""Long campaigns on clusters whose workers are killed at random moments, and whose scheduler is started again.

At most CLUSTER_KILLS workers of each cluster are killed in CLUSTER_BLOCKS blocks, at moments that SOAK_SEED draws;
``--capture=no`` shows what they were doing and how long it took.
"""

import contextlib
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import dask_processes
import psutil
import pytest
from campaign_rows import rows
from command import start
from waiting import wait_until

from runoff.engines.lab import cache

pytestmark = [pytest.mark.lab, pytest.mark.timeout(7200), pytest.mark.usefixtures("lab_kernel", "own_qemu")]

KILLS = int(os.environ.get("CLUSTER_KILLS", "10"))
BLOCKS = int(os.environ.get("CLUSTER_BLOCKS", "40"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
PAUSE_S = 10.0
"""Longest time between a kill and a second one, which may meet the worker that takes the killed one's place."""
AGAIN = 0.5
"""Share of kills after which there is a second one, and share of those that take the worker's cache too."""

WORDS = (
    "compare", "default", "bfs", "--work", "counters:n=2,count=100000,passes=1", "--memory", "512", "--cpus", "1",
    "--clock", "virtual", "--seed", "1", "--blocks", str(BLOCKS),
)  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, lab_kernel: Any, own_qemu: Any) -> dict[str, Any]:
    """What this machine takes without a cluster."""
    place = tmp_path_factory.mktemp("here") / "c"
    began_s = time.monotonic()
    assert start(*WORDS, "--out", place, "-j", "2", stdout=DEVNULL, stderr=DEVNULL).wait() == 0
    print(f"\nundisturbed, -j 2: {time.monotonic() - began_s:.0f} s")
    return read_values(place)


def read_values(campaign: Path) -> dict[str, Any]:
    return {row["cell"]: (row["valid"], row["metrics"]) for row in rows(campaign)}


def list_workers(parent: psutil.Process) -> list[psutil.Process]:
    """The processes that take samples, for each of which Dask starts another when it dies."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [child for child in parent.children() if "spawn_main" in " ".join(child.cmdline())]
    return []


@dataclass
class Campaign:
    """One that is disturbed, until ``disturb`` has returned."""

    place: Path
    address: str | Path
    find_parents: Callable[["Campaign"], list[psutil.Process]]
    generator: random.Random = field(default_factory=lambda: random.Random(SEED))
    killed: Counter[str] = field(default_factory=Counter)

    def disturb(self, halfway: Callable[[], None] = lambda: None, empty: Callable[[int], None] | None = None) -> None:
        """Take it, and kill workers meanwhile. ``empty`` removes the cache of the worker with this parent's process."""
        began_s = time.monotonic()
        with self.said.open("w") as said:
            self.process = start(*WORDS, "--out", self.place, "--cluster", self.address, stderr=said, stdout=said)
        # Counted in samples, so that the moments do not depend on how fast the machine is.
        moments = sorted(self.generator.randrange(2 * BLOCKS * 9 // 10) for _ in range(KILLS))
        is_before_half = True
        while self.process.poll() is None:
            taken = len(rows(self.place))
            if is_before_half and taken >= BLOCKS:
                is_before_half = False
                halfway()
            if moments and taken >= moments[0]:
                self.kill_some(moments, empty)
            time.sleep(0.05)
        print(f"\n{self.address}: {time.monotonic() - began_s:.0f} s, killed while: {dict(self.killed)}")
        assert self.process.returncode in (0, 2), self.said.read_text()
        assert self.killed, "no worker was there to be killed"

    @property
    def said(self) -> Path:
        return self.place.with_suffix(".said")

    def kill_some(self, moments: list[int], empty: Callable[[int], None] | None) -> None:
        while moments and self.process.poll() is None:
            time.sleep(self.generator.uniform(0, 1))
            # A worker, or the campaign, may end by itself meanwhile.
            with contextlib.suppress(psutil.NoSuchProcess):
                if self.kill_one(empty):
                    moments.pop(0)
            if self.generator.random() >= AGAIN:
                return
            time.sleep(self.generator.uniform(0, PAUSE_S))

    def kill_one(self, empty: Callable[[int], None] | None) -> bool:
        """Return whether there was one."""
        working = [(parent, worker) for parent in self.find_parents(self) for worker in list_workers(parent)]
        if not working:
            return False
        parent, worker = self.generator.choice(working)
        loses_cache = empty is not None and self.generator.random() < AGAIN
        self.killed[self.describe(worker)] += 1
        with hold_back(parent) if loses_cache else contextlib.nullcontext():
            worker.kill()
            if empty is not None and loses_cache:
                wait_until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)
                empty(parent.pid)
        return True

    def describe(self, worker: psutil.Process) -> str:
        """What it is doing, as the campaign has said it."""
        ports = [each.laddr.port for each in worker.net_connections("tcp") if each.status == psutil.CONN_LISTEN]
        lines = [line for line in self.said.read_text().splitlines() for port in ports if f":{port})" in line]
        if not lines:
            return "starting or admitted"
        return "receiving or preparing" if "sending" in lines[-1] else "taking samples"


@contextmanager
def hold_back(parent: psutil.Process) -> Iterator[None]:
    """Let it start nothing meanwhile."""
    parent.suspend()
    try:
        yield
    finally:
        parent.resume()


def find_nannies(dask: dask_processes.DaskProcesses) -> list[psutil.Process]:
    return [psutil.Process(process.pid) for process in dask.processes[1:] if process.poll() is None]


def test_local_workers_that_are_killed_lose_no_sample_and_take_none_twice(
    tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    def find_client(campaign: Campaign) -> list[psutil.Process]:
        return [psutil.Process(campaign.process.pid)]

    Campaign(tmp_path / "there", "local:2", find_client).disturb()
    assert len(rows(tmp_path / "there")) == 2 * BLOCKS
    assert read_values(tmp_path / "there") == undisturbed


def test_no_sample_is_lost_or_taken_twice_whatever_dies(tmp_path: Path, undisturbed: dict[str, Any]) -> None:
    """Workers that have all sent to them, lose their caches, and find the scheduler by its file, which ends too."""
    names: dict[int, str] = {}
    with dask_processes.start(tmp_path / "dask") as dask:

        def start_workers() -> None:
            for name in ("one", "two"):
                names[dask.start_worker(name, prefix=dask_processes.hide(cache.root())).pid] = name

        def restart() -> None:
            port = int(dask.address.rpartition(":")[2])
            for process in dask.processes:
                if process.poll() is None:
                    dask_processes.kill(process)
            dask.processes.clear()
            dask.start_scheduler(port)
            start_workers()

        def empty(nanny: int) -> None:
            shutil.rmtree(dask.folder / f"cache-{names[nanny]}", ignore_errors=True)

        start_workers()
        Campaign(tmp_path / "there", dask.file, lambda _: find_nannies(dask)).disturb(restart, empty)
    assert len(rows(tmp_path / "there")) == 2 * BLOCKS
    assert read_values(tmp_path / "there") == undisturbed
