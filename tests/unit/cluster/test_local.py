"""Workers on this machine are nobody else's: TLS, no pages, no files in directories that all users share."""

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import distributed
import psutil
import pytest
from waiting import LIMIT_S, wait_until

from runoff.cluster.address import LocalWorkers
from runoff.cluster.connection import Connection
from runoff.cluster.local import LocalScheduler
from runoff.errors import MissingError, RunoffError


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory as /tmp, in which somebody has put links where Dask keeps its locks."""
    place = tmp_path_factory.mktemp("shared")
    victim = place / "victim"
    victim.write_text("keep")
    (place / "dask-scratch-space").mkdir()
    for name in ("global.lock", "purge.lock"):
        (place / "dask-scratch-space" / name).symlink_to(victim)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(place))
        patch.setattr("tempfile.tempdir", None)
        yield place
    assert victim.read_text() == "keep"


@pytest.fixture(scope="module")
def connection(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    found = Connection(LocalWorkers(2), tmp_path_factory.mktemp("c") / "guests" / "dask", real_clock=False)
    try:
        yield found
    finally:
        found.close()


def list_ports() -> set[tuple[str, int]]:
    """Where this process and its children listen."""
    me = psutil.Process()
    each = [me, *me.children(recursive=True)]
    found = [one for process in each for one in process.net_connections("inet") if one.status == psutil.CONN_LISTEN]
    return {(one.laddr.ip, one.laddr.port) for one in found}


def test_samples_can_be_asked_for(connection: Connection) -> None:
    assert connection.client.submit(os.getpid).result(60) != os.getpid()


@pytest.mark.timeout(300)
def test_a_worker_that_dask_gives_up_is_followed_by_another(tmp_path: Path) -> None:
    """One that is killed while it starts in the place of another is followed too."""
    connection = Connection(LocalWorkers(1), tmp_path / "guests" / "dask", real_clock=False)
    try:
        before = connection.client.submit(os.getpid).result(60)
        cluster = connection._cluster
        (nanny,) = cluster.workers.values()
        cluster.sync(nanny.close)
        assert connection.client.submit(os.getpid, pure=False).result(LIMIT_S) != before
        # The new worker may answer before the cluster has heard that it was started.
        wait_until(lambda: len(cluster.workers) == 1)
    finally:
        connection.close()


def test_a_scheduler_that_does_not_start_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_scheduler: object) -> None:
        raise OSError("no port is free")

    monkeypatch.setattr(LocalScheduler, "start_unsafe", fail)
    with pytest.raises(RunoffError, match="Dask could not start 1 workers here"):
        Connection(LocalWorkers(1), tmp_path / "guests" / "dask", real_clock=False)


def test_every_port_is_of_loopback_and_asks_for_the_certificate(connection: Connection) -> None:
    ports = list_ports()
    # The scheduler, two nannies and two workers, and nothing for pages.
    assert len(ports) == 5
    for ip, port in ports:
        assert ip == "127.0.0.1"
        with socket.create_connection((ip, port), timeout=60) as stranger:
            stranger.settimeout(60)
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
            try:
                answer = stranger.recv(9)
            except ConnectionResetError:
                answer = b""
            # Nothing, or TLS' own alert.
            assert not answer.startswith(b"HTTP")
        for security in (distributed.Security(), distributed.Security.temporary()):
            kind = "tls" if security.require_encryption else "tcp"
            with pytest.raises(OSError, match=r"Timed out|timed out|refused|certificate|TLS|SSL|closed|reset"):
                distributed.Client(f"{kind}://{ip}:{port}", security=security, timeout=2, set_as_default=False)


def test_its_directory_is_private_and_nothing_is_in_the_shared_one(connection: Connection, shared: Path) -> None:
    place = connection._folder
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert sorted(path.name for path in shared.iterdir()) == ["dask-scratch-space", "victim"]
    assert sorted(path.name for path in (shared / "dask-scratch-space").iterdir()) == ["global.lock", "purge.lock"]
    found = connection.client.run(lambda dask_worker: dask_worker.local_directory)
    assert all(Path(each).is_relative_to(place) for each in found.values())


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "thesis").touch()
    (tmp_path / "dask").symlink_to(tmp_path / "theirs")
    with pytest.raises(MissingError, match="is not a directory"):
        Connection(LocalWorkers(1), tmp_path / "dask", real_clock=False)
    assert (tmp_path / "theirs" / "thesis").exists()


def test_a_worker_that_dies_as_it_starts_is_started_again(shared: Path, tmp_path: Path) -> None:
    me = psutil.Process()
    others = {child.pid for child in me.children()}

    def find_started() -> list[psutil.Process]:
        return [each for each in me.children() if each.pid not in others and "spawn_main" in " ".join(each.cmdline())]

    def kill_first() -> None:
        wait_until(find_started)
        find_started()[0].kill()

    killer = threading.Thread(target=kill_first)
    killer.start()
    found = Connection(LocalWorkers(2), tmp_path / "dask", real_clock=False)
    try:
        killer.join()
        found.client.wait_for_workers(2, timeout=LIMIT_S)
    finally:
        found.close()
