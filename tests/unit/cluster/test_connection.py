"""What waiting for an answer gives when Dask's own wait ends otherwise."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

from runoff.cluster.address import LocalWorkers
from runoff.cluster.connection import LOST, Connection, wait_for_answer

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A scheduler, and a worker that is a thread of this process."""
    kind = {
        "processes": False,
        "n_workers": 1,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "protocol": "tcp://",
    }
    with distributed.LocalCluster(host="127.0.0.1", **kind) as cluster, distributed.Client(cluster) as client:
        yield client


MAY_END = threading.Event()
"""The worker is of this process."""


def wait_until_allowed() -> None:
    MAY_END.wait(LIMIT_S)


def cancel_waits(client: Any) -> int:
    """Cancel what waits for a result in the client's loop, and return how many waits that were."""

    async def cancel() -> int:
        waits = [task for task in asyncio.all_tasks() if "Future._result" in repr(task.get_coro())]
        for task in waits:
            task.cancel()
        return len(waits)

    return int(client.sync(cancel))


def test_a_wait_that_is_cancelled_is_a_lost_answer(client: Any) -> None:
    future = client.submit(wait_until_allowed, pure=False)
    found: list[BaseException] = []

    def wait() -> None:
        try:
            # A limit would turn the cancelled wait into one that took too long.
            wait_for_answer(future, None)
        except BaseException as error:
            found.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not cancel_waits(client):
        pass
    waiting.join(LIMIT_S)
    MAY_END.set()
    assert len(found) == 1
    assert isinstance(found[0], LOST)


def test_the_same_error_of_a_task_is_its_own(client: Any) -> None:
    def fail() -> None:
        raise UnboundLocalError("of the task")

    with pytest.raises(UnboundLocalError, match="of the task"):
        wait_for_answer(client.submit(fail, pure=False), LIMIT_S)


def test_no_moment_without_waiting_tasks_is_kept(tmp_path: Path) -> None:
    connection = Connection(LocalWorkers(1), tmp_path / "workers", real_clock=False)
    try:
        extensions = connection.client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.extensions))
        of_workers = connection.client.run(lambda dask_worker: list(dask_worker.extensions))
        for names in [extensions, *of_workers.values()]:
            assert names
            assert "spans" not in names
    finally:
        connection.close()
