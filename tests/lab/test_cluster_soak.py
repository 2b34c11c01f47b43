"""A long campaign on a cluster whose workers are killed at random, and whose scheduler is started again."""

import os
import random
import time
from pathlib import Path

import dask_processes
import psutil
import pytest
from campaign_rows import rows
from command import run, start

from runoff.engines.lab import cache

pytestmark = [pytest.mark.lab, pytest.mark.timeout(3600), pytest.mark.usefixtures("lab_kernel", "own_qemu")]

KILLS = int(os.environ.get("CLUSTER_KILLS", "20"))
BLOCKS = int(os.environ.get("CLUSTER_BLOCKS", "100"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
PAUSE_S = 8.0
"""Mean time between two kills."""

WORDS = (
    "compare", "default", "bfs", "--work", "counters:n=2,count=100000,passes=1", "--memory", "512", "--cpus", "1",
    "--clock", "virtual", "--seed", "1", "--blocks", str(BLOCKS),
)  # fmt: skip


def kill_a_worker(dask: dask_processes.DaskProcesses, generator: random.Random) -> None:
    """Kills a process that takes samples; Dask starts another in its place."""
    nannies = [psutil.Process(process.pid) for process in dask.processes[1:] if process.poll() is None]
    working = [child for nanny in nannies for child in nanny.children() if "spawn_main" in " ".join(child.cmdline())]
    if working:
        generator.choice(working).kill()


def start_workers(dask: dask_processes.DaskProcesses) -> None:
    for name in ("one", "two"):
        dask.start_worker(name, environment={"RUNOFF_CACHE": str(cache.root())})


def test_no_sample_is_lost_or_taken_twice_whatever_dies(tmp_path: Path) -> None:
    run(*WORDS, "--out", tmp_path / "here", "-j", "2")
    generator = random.Random(SEED)
    kills, restarted = 0, False
    with dask_processes.start(tmp_path / "dask") as dask:
        start_workers(dask)
        campaign = start(*WORDS, "--out", tmp_path / "there", "--cluster", dask.file, stdout=None, stderr=None)
        while campaign.poll() is None:
            time.sleep(generator.uniform(0, 2 * PAUSE_S))
            # Before, it is waiting for workers, and not for as long as a busy machine may take.
            if not rows(tmp_path / "there"):
                continue
            if kills < KILLS:
                kill_a_worker(dask, generator)
                kills += 1
            if kills >= KILLS // 2 and not restarted:
                restarted = True
                port = int(dask.address.rpartition(":")[2])
                for process in dask.processes:
                    if process.poll() is None:
                        dask_processes.kill(process)
                dask.start_scheduler(port)
                start_workers(dask)
    assert campaign.returncode in (0, 2)
    assert restarted
    assert kills == KILLS, "it ended before all workers were killed: give it more blocks"
    here, there = (
        {row["cell"]: (row["valid"], row["metrics"]) for row in rows(tmp_path / name)} for name in ("here", "there")
    )
    assert len(rows(tmp_path / "there")) == 2 * BLOCKS
    assert there == here
