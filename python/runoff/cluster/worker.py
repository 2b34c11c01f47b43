"""The worker's side: these functions run on it, as tasks of Dask."""

import functools
import hashlib
import os
import platform
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from runoff.cluster import store
from runoff.cluster.address import is_plain, is_safe
from runoff.cluster.answers import About, Refusal, Unprepared
from runoff.cluster.job import Job, relocate
from runoff.cluster.library import distributed
from runoff.cluster.parcels import Chunk, Parcel
from runoff.engines import conditions
from runoff.engines.lab.choose import LabEngine, make_engine_in
from runoff.engines.outcome import Origin, Outcome
from runoff.errors import RunoffError
from runoff.ownership import find_other_writer
from runoff.plan.order import Cell
from runoff.version import __version__

IDLE_S = 900.0
"""After so long without a sample, a guest that waits for the next one is ended."""

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


@dataclass
class _OpenJob:
    """A job that samples can be taken of."""

    engine: LabEngine
    folder: Path
    idle: threading.Timer | None = None


_open: dict[str, _OpenJob] = {}
_places: dict[str, dict[str, Path]] = {}
"""Where the parcels of jobs that are not open yet were found: by job and digest, as hashing takes long."""
_lock = threading.Lock()


def _or_refusal(function: Callable[_Parameters, _Answer]) -> Callable[_Parameters, _Answer | Refusal]:
    """Return errors of this machine as answers: on the other side they are one worker's, not the campaign's."""

    @functools.wraps(function)
    def call(*args: _Parameters.args, **values: _Parameters.kwargs) -> _Answer | Refusal:
        try:
            return function(*args, **values)
        except RunoffError as error:
            reason = error.describe()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        return Refusal(reason, distributed.get_worker().address)

    return call


def list_versions() -> Mapping[str, str]:
    """Return what must be the same here and there for values to be understood; only plain values, which any version
    can read."""
    return {
        "runoff": __version__,
        "files of runoff": _digest_package(),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "distributed": distributed.__version__,
    }


@functools.cache
def _digest_package() -> str:
    """Return the beginning of a digest of all files of this package: each may shape a guest or a sample."""
    digest = hashlib.sha256()
    top = resources.files("runoff")
    for path in sorted(Path(str(top)).rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(str(top))}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:12]


@_or_refusal
def meet(job: Job) -> About:
    """Return what this worker is."""
    address, place = str(distributed.get_worker().scheduler.address), Path(distributed.get_worker().local_directory)
    if not is_safe(address) or (is_plain(address) and os.geteuid() == 0):
        raise RunoffError("it takes orders over TLS only, or from its own machine if it is not root (docs/cluster.md)")
    if os.geteuid() == 0 and (why := find_other_writer(place)) is not None:
        raise RunoffError(f"{why}, who could redirect what root writes: start it with --local-directory")
    return About(socket.gethostname(), conditions.read_machine_id())


@_or_refusal
def list_lacking(job: Job) -> tuple[str, ...]:
    """Return the digests of the parcels that this machine does not have."""
    found = {parcel.digest: store.find(parcel) for parcel in job.parcels}
    _places[job.name] = {digest: place for digest, place in found.items() if place is not None}
    return tuple(digest for digest, place in found.items() if place is None)


@_or_refusal
def begin_parcel(parcel: Parcel, sender: str) -> None:
    store.begin(parcel, sender)


@_or_refusal
def receive(parcel: Parcel, sender: str, chunks: Iterable[Chunk]) -> None:
    store.write(parcel, sender, chunks)


@_or_refusal
def finish_parcel(parcel: Parcel, sender: str, job: str) -> None:
    _places.setdefault(job, {})[parcel.digest] = store.finish(parcel, sender)


@_or_refusal
def open_job(job: Job) -> None:
    """Prepare to take samples. Raises MissingError if something is lacking."""
    known = _places.pop(job.name, {})
    if job.name in _open:
        # The campaign had lost the scheduler, and finds this worker as it was.
        return
    places = {parcel.source: known.get(parcel.digest) or _require(parcel) for parcel in job.parcels}
    # Dask removes the directory of a worker that is gone.
    folder = Path(tempfile.mkdtemp(prefix="runoff-", dir=distributed.get_worker().local_directory))
    engine = make_engine_in(job.plan, folder, relocate(job.supplies, places))
    try:
        engine.prepare(lambda _text: None)
    except BaseException:
        engine.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    with _lock:
        _open[job.name] = _OpenJob(engine, folder)


def _require(parcel: Parcel) -> Path:
    found = store.find(parcel)
    if found is None:
        raise RunoffError(f"{parcel.name} has been removed from the worker's cache")
    return found


@_or_refusal
def take(name: str, cell: Cell) -> Outcome | Unprepared:
    """Return a sample of the job ``name``."""
    job = _open.get(name)
    if job is None:
        return Unprepared(distributed.get_worker().address)
    if job.idle is not None:
        job.idle.cancel()
    began = conditions.read_conditions()
    try:
        outcome = job.engine.take(cell, lambda _phase: None)
    finally:
        if job.engine.whole_blocks:
            job.idle = threading.Timer(IDLE_S, job.engine.close)
            job.idle.daemon = True
            job.idle.start()
    tables: dict[str, Any] = dict(job.engine.fingerprint())
    origin = Origin(socket.gethostname(), conditions.read_machine_id(), began, tables, _name_worker())
    return replace(outcome, origin=origin)


def _name_worker() -> str:
    return f"{socket.gethostname()} ({distributed.get_worker().address.rpartition('/')[2]})"


def abandon(name: str) -> None:
    """End running samples of the job ``name`` now."""
    if (job := _open.get(name)) is not None:
        job.engine.abandon()


def close_job(name: str) -> None:
    """Put everything back, and forget the job ``name``."""
    with _lock:
        job = _open.pop(name, None)
    if job is None:
        return
    if job.idle is not None:
        job.idle.cancel()
    job.engine.close()
    shutil.rmtree(job.folder, ignore_errors=True)
