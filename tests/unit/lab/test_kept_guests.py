"""Which kept guests are forgotten, when several runoffs use one cache."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runoff.engines.lab import cache, snapshot

LONG_AGO_S = 2 * snapshot.IN_USE_S


@pytest.fixture(autouse=True)
def full_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are stored at most, all used a moment ago."""
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path))
    for number in range(snapshot.MOST):
        (cache.snapshots() / f"other{number}").mkdir(parents=True)


def make(part: Path) -> None:
    (part / "ram").write_text("memory")
    (part / "orders.json").write_text("{}")


def keep(make: Callable[[Path], None] = make) -> Path:
    return snapshot._ensure_directory("guest", make, print)


def make_old(directory: Path) -> None:
    then = time.time() - LONG_AGO_S
    os.utime(directory, (then, then))


def another_keeps_one() -> None:
    """Another runoff stores one, and forgets those that were not used lately."""
    snapshot._ensure_directory(f"another{time.monotonic_ns()}", make, print)


def test_a_guest_that_was_not_used_lately_is_forgotten() -> None:
    kept = keep()
    make_old(kept)
    another_keeps_one()
    assert not kept.exists()


def test_one_that_is_found_in_the_cache_is_in_use_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another runoff may forget some while this one still looks whether it is whole."""
    kept = keep()
    make_old(kept)
    is_whole = snapshot._is_whole

    def look(directory: Path) -> bool:
        another_keeps_one()
        return is_whole(directory)

    monkeypatch.setattr(snapshot, "_is_whole", look)
    assert keep(lambda _: pytest.fail("it was there")) == kept
    assert (kept / "ram").read_text() == "memory"


def test_one_that_is_being_looked_at_is_spared_however_old() -> None:
    kept = keep()
    make_old(kept)
    with cache.hold_lock(kept, print):
        another_keeps_one()
    assert kept.is_dir()


def test_what_is_gone_is_not_there_and_does_not_come_back_as_a_file() -> None:
    kept = keep()
    for path in kept.iterdir():
        path.unlink()
    kept.rmdir()
    assert not snapshot._use(kept)
    assert not kept.exists()


def test_a_file_in_its_place_is_replaced() -> None:
    (cache.snapshots() / "guest").touch()
    assert (keep() / "ram").read_text() == "memory"
