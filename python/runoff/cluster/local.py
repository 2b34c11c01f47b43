"""Workers on this machine for the time of a campaign, which no other user can reach."""

import asyncio
import logging
import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from runoff.cluster.library import dask, distributed
from runoff.errors import MissingError, RunoffError
from runoff.files import make_directories
from runoff.installed import describe_adding

REAL_CLOCK = "machine"
"""Dask's resource of a worker that takes samples under the real clock: one at a time."""
TRIES = 3
"""Starts of all workers, of which one may die each time."""
REPLACE_S = 1.0
"""Time between two looks at whether a worker was given up."""
_HOST = "127.0.0.1"
_GIVEN_UP = (distributed.Status.closed, distributed.Status.failed)


class _Unseen:
    """Part of a server of Dask that opens no port for its web pages: every user of this machine could read them."""

    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        return


class LocalScheduler(_Unseen, distributed.Scheduler):  # type: ignore[misc]
    """A scheduler in this process."""


class LocalWorker(_Unseen, distributed.Worker):  # type: ignore[misc]
    """A worker in a process of its own."""


class LocalCluster(distributed.SpecCluster):  # type: ignore[misc]
    """Workers of this machine, as many as were asked for all the time.

    Dask gives a worker up that dies while it starts again, or is long in coming back.
    """

    _replacing: "asyncio.Task[None] | None" = None

    async def _start(self) -> None:
        await super()._start()
        self._is_over = asyncio.Event()
        self._replacing = asyncio.create_task(self._replace())

    async def _close(self) -> None:
        if self._replacing is not None:
            self._is_over.set()
            await self._replacing
        await super()._close()

    async def _replace(self) -> None:
        """Start another worker in the place of each that was given up, until the cluster ends."""
        while not self._is_over.is_set():
            for name, nanny in list(self.workers.items()):
                if nanny.status in _GIVEN_UP:
                    del self.workers[name]
            if self.worker_spec.keys() - self.workers.keys():
                # The next turn tries again.
                with suppress(Exception):
                    await self._correct_state()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_over.wait(), REPLACE_S)


def start_workers(count: int, folder: Path, *, real_clock: bool) -> Any:
    """Return a cluster of ``count`` workers, with everything that they write in ``folder``, which is made anew.

    All of it speaks TLS with a certificate that exists for as long as the cluster. Raises RunoffError.
    """
    security = _make_security()
    _make_private(folder)
    # The scheduler would lock files in a directory that all users share, and follow links there.
    dask.config.set({"temporary-directory": str(folder)})
    options = {"host": _HOST, "protocol": "tls://", "security": security}
    worker = {
        "cls": distributed.Nanny,
        "options": {
            **options,
            "nthreads": 1,
            "worker_class": LocalWorker,
            # Guests are other processes: what Dask measures of a worker says nothing about them.
            "memory_limit": 0,
            "local_directory": str(folder),
            "silence_logs": logging.CRITICAL,
            "resources": {REAL_CLOCK: 1} if real_clock else None,
            "extensions": _without_spans(distributed.worker.DEFAULT_EXTENSIONS),
        },
    }
    extensions = _without_spans(distributed.scheduler.DEFAULT_EXTENSIONS)
    reason = ""
    # One that dies before it has started once ends the others.
    for _ in range(TRIES):
        try:
            return LocalCluster(
                scheduler={"cls": LocalScheduler, "options": {**options, "port": 0, "extensions": extensions}},
                workers=dict.fromkeys(range(count), worker),
                worker=worker,
                security=security,
                silence_logs=logging.CRITICAL,
            )
        except (OSError, RuntimeError) as error:
            reason = str(error)
    raise RunoffError(f"Dask could not start {count} workers here: {reason}")


def _make_security() -> Any:
    try:
        return distributed.Security.temporary()
    except ImportError:
        raise MissingError(f"--cluster local:N needs cryptography: {describe_adding('cluster')}") from None


def _make_private(folder: Path) -> None:
    """Make the directory, which only this user can enter, in the place of one that was left behind."""
    try:
        make_directories(folder.parent)
        if os.path.lexists(folder):
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise MissingError(f"{folder} is not a directory: remove it")
            shutil.rmtree(folder)
        folder.mkdir(0o700)
    except OSError as error:
        raise MissingError(f"cannot use {folder}: {error.strerror}; choose another --out") from None


def _without_spans(extensions: Mapping[str, type]) -> dict[str, type]:
    """Return the extensions that keep nothing: the scheduler is in this process, and of each moment in which no sample
    was waiting it would keep a span of 1.3 kB."""
    return {name: each for name, each in extensions.items() if name != "spans"}
