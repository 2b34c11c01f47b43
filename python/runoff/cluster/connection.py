"""The connection to Dask's scheduler: made once, and again by Dask where it was lost."""

import importlib.util
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from runoff.cluster.address import Address, LocalWorkers, RemoteScheduler
from runoff.cluster.library import dask, distributed
from runoff.cluster.local import start_workers
from runoff.errors import MissingError

CONNECT_S = 15.0
"""For the first connection."""
PATIENCE_S = 300.0
"""How long a scheduler, or the last worker, may be gone before the campaign stops."""

LOST = (distributed.client.FutureCancelledError, distributed.CancelledError, distributed.comm.CommClosedError, OSError)
"""Exceptions that say nothing but that an answer will not come."""
KILLED = distributed.KilledWorker
"""Exception for a task whose workers have died several times."""


class Connection:
    """A client of a scheduler, and the cluster itself if it lives on this machine."""

    def __init__(self, address: Address, folder: Path, *, real_clock: bool) -> None:
        """Files of workers on this machine are in ``folder``. Raises MissingError if there is no scheduler, or it does
        not accept this client."""
        self._cluster: Any = None
        self._folder = folder
        if isinstance(address, LocalWorkers):
            self._cluster = start_workers(address.count, folder, real_clock=real_clock)
            self.client = distributed.Client(self._cluster, set_as_default=False)
        else:
            self.client = _connect(address)

    @property
    def dashboard(self) -> str:
        """Address of the page of a scheduler that was there already; empty without one."""
        if self._cluster is not None or importlib.util.find_spec("bokeh") is None:
            return ""
        with suppress(Exception):
            return str(self.client.dashboard_link)
        return ""

    def close(self) -> None:
        """End what was started. Never raises: nothing that matters depends on it."""
        with suppress(Exception):
            self.client.close(timeout=5)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=10)
        shutil.rmtree(self._folder, ignore_errors=True)


def wait_for_answer(future: Any, timeout_s: float | None) -> Any:
    """Return what a task returned. Raises TimeoutError, ``KILLED``, one of ``LOST``, or what the task raised."""
    try:
        return future.result(timeout=timeout_s)
    except UnboundLocalError as error:
        # Dask's sync returns a result that it has not got if the wait is cancelled in its loop.
        if future.status == "error":
            raise
        raise distributed.CancelledError(future.key) from error


def _connect(address: RemoteScheduler) -> distributed.Client:
    if address.address.startswith("tls://") and not dask.config.get("distributed.comm.tls.ca-file"):
        raise MissingError(
            f"{address.address} asks for certificates: name them in Dask's configuration (docs/cluster.md)"
        )
    by: dict[str, Any] = {"address": address.address} if address.file is None else {"scheduler_file": str(address.file)}
    try:
        # The same time limit is for the first connection, where nobody should wait, and for later ones.
        distributed.Client(**by, set_as_default=False, timeout=CONNECT_S).close()
        return distributed.Client(**by, set_as_default=False, timeout=PATIENCE_S)
    except (OSError, TypeError, ValueError) as error:
        raise MissingError(f"no scheduler answers at {address.address}: {_explain(error)}") from None


def _explain(error: BaseException) -> str:
    """Return the reason below the reasons that Dask wraps it in."""
    while error.__cause__ is not None:
        error = error.__cause__
    reason = str(error) or type(error).__name__
    if "SSL" in reason or "TLS" in reason:
        return f"{reason}; both sides need certificates that they trust (docs/cluster.md)"
    return f"{reason}; start one with: dask scheduler (docs/cluster.md)"
