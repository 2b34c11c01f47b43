"""What a worker does before it takes samples."""

import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from runoff.cluster import parcels, store, worker
from runoff.cluster.job import Job
from runoff.cluster.parcels import Parcel, pack, read_messages
from runoff.engines import sparse


@pytest.fixture
def hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """Count how often each file is hashed; the engine that would take samples is left out."""
    count: Counter[Path] = Counter()
    real = sparse.sha256

    def count_and_hash(path: Path) -> str:
        digest = real(path)
        count[path] += 1
        return digest

    here = SimpleNamespace(local_directory=str(tmp_path), address="tcp://127.0.0.1:1")
    engine = SimpleNamespace(prepare=lambda _tell: None, close=lambda: None)
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parcels.sparse, "sha256", count_and_hash)
    monkeypatch.setattr(worker.distributed, "get_worker", lambda: here)
    monkeypatch.setattr(worker, "make_engine_in", lambda _plan, _folder, _supplies: engine)
    monkeypatch.setattr(worker, "relocate", lambda supplies, _places: supplies)
    monkeypatch.setattr(worker, "_open", {})
    return count


def make_parcel(place: Path) -> Parcel:
    place.mkdir()
    (place / "file").write_bytes(str(place).encode() * 1000)
    return pack(place)


def arrive(parcel: Parcel, sender: str) -> None:
    """Let the parcel arrive from another machine: nothing is left at its source here."""
    store.begin(parcel, sender)
    for message in read_messages(parcel):
        store.write(parcel, sender, message)
    shutil.rmtree(parcel.source)
    worker.finish_parcel(parcel, sender, sender)


def test_a_parcel_is_hashed_once_wherever_it_was_found(tmp_path: Path, hashed: Counter[Path]):
    at_its_source, received, sent = (make_parcel(tmp_path / name) for name in ("source", "received", "sent"))
    arrive(received, "an earlier job")
    job = Job("job", SimpleNamespace(), SimpleNamespace(), (at_its_source, received, sent))  # type: ignore[arg-type]
    sent.source.rename(tmp_path / "far")
    hashed.clear()
    assert worker.list_lacking(job) == (sent.digest,)
    (tmp_path / "far").rename(sent.source)
    arrive(sent, job.name)
    worker.open_job(job)
    assert job.name in worker._open
    places = (str(at_its_source.source), received.digest, sent.digest)
    assert [sum(times for path, times in hashed.items() if each in str(path)) for each in places] == [1, 1, 1]


def test_a_job_that_is_open_is_not_opened_once_more(tmp_path: Path, hashed: Counter[Path]):
    """A campaign that was cut off from the scheduler admits its workers anew: guests are not left behind."""
    job = Job("job", SimpleNamespace(), SimpleNamespace(), ())  # type: ignore[arg-type]
    worker.open_job(job)
    opened = worker._open[job.name]
    worker.open_job(job)
    assert worker._open[job.name] is opened
    assert [path.name for path in tmp_path.glob("runoff-*")] == [opened.folder.name]
