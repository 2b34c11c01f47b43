"""Disks behind elevators on a running machine: what they store, who may remove them, what a kill leaves."""

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import run
from modules import insert
from waiting import LIMIT_S, wait_until

from runoff.engines import ublk
from runoff.engines.questions import describe_elevators
from runoff.errors import RunoffError, UsageError
from runoff.plan.elevators import parse_elevator

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]

CONTROL = Path("/dev/ublk-control")
RECORDS = Path("/run/runoff-disks")


def call(*words: str | Path, expect: int = 0) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def add(elevator: str, *, size_mb: int = 64, model: str = "ide2003", file: Path | None = None) -> Path:
    """``runoff disk add``, without the time that the command itself takes."""
    parsed = parse_elevator(elevator, describe_elevators, elevator)
    return Path(ublk.add(parsed, model, size_mb, file)["device"])


def listed() -> dict[str, Mapping[str, Any]]:
    return {each["device"]: each for each in ublk.list_disks()}


def refused(device: Path | str, kind: type[RunoffError] = RunoffError) -> str:
    """Why ``runoff disk remove`` does nothing."""
    with pytest.raises(kind) as caught:
        ublk.remove(str(device), force=False)
    assert type(caught.value) is kind
    return str(caught.value)


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def kill(device: Path) -> None:
    """The server, as the kernel does that is out of memory."""
    server = listed()[str(device)]["server"]
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{server}").glob("fd/*")))


@contextmanager
def place_below(folder: Path) -> Iterator[Path]:
    """Where to mount a disk; whatever a failed test leaves is taken away. No fixture, as those also run where the
    guest is only watched."""
    insert("ublk_drv")
    place = folder / "mounted"
    place.mkdir()
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)
        for device in listed():
            ublk.remove(device, force=True)


def fails_to_write(path: Path) -> bool:
    try:
        with path.open("wb") as opened:
            opened.write(b"x" * 100_000)
            os.fsync(opened.fileno())
    except OSError:
        return True
    return False


def test_without_the_driver_its_module_is_named(tmp_path: Path) -> None:
    if CONTROL.exists():
        pytest.skip("this kernel has the driver")
    told = run("disk", "add", "--elevator", "cfq", "--size", "64M", "--file", tmp_path / "data", expect=69).stderr
    assert "modprobe ublk_drv" in told
    assert list(tmp_path.iterdir()) == []


def test_a_disk_keeps_its_data_and_stays_while_it_is_used(tmp_path: Path) -> None:
    with place_below(tmp_path) as place:
        made = run("disk", "add", "--elevator", "anticipatory:antic_expire_ms=8", "--size", "256M")
        device = Path(made.stdout.split()[0])
        assert made.stdout.endswith("  anticipatory:antic_expire_ms=8 on ide2003, requests told apart by: process\n")
        assert f"next: mkfs.ext4 {device} && mount {device} /mnt" in made.stderr
        assert listed()[str(device)]["disk"] == {
            "elevator": "anticipatory",
            "parameters": {"antic_expire_ms": "8"},
            "model": "ide2003",
            "size_mb": 256,
            "file": None,
            "identity": "process",
        }
        assert int(Path(f"/sys/block/{device.name}/size").read_text()) == 256 * 2048
        call("mkfs.ext4", "-q", device)
        call("mount", device, place)
        for index in range(1, 5):
            (place / str(index)).write_bytes(os.urandom(index * 700_001))
        written = sums(place)

        assert f"{device} is in use, mounted on {place}" in run("disk", "remove", device, expect=1).stderr
        assert device.is_block_device()

        call("umount", place)
        call("mount", device, place)
        assert sums(place) == written
        call("umount", place)
        call("e2fsck", "-fn", device)

        with device.open("rb"):
            assert f"open in process {os.getpid()}" in refused(device.name)
        counts = json.loads(run("disk", "remove", device, "--json").stdout)["counts"]
        assert counts["served"] > 0
        assert counts["sectors_written"] * 512 > 7_000_000
        assert not device.exists()
        assert listed() == {}
        assert list(RECORDS.iterdir()) == []


def test_a_file_holds_the_data_and_stays(tmp_path: Path) -> None:
    with place_below(tmp_path):
        data = tmp_path / "data"
        device = add("noop", model="none", file=data)
        block = os.urandom(4096)
        with device.open("r+b") as opened:
            opened.write(block)
            os.fsync(opened.fileno())
        assert ublk.remove(str(device), force=False)["disk"]["file"] == str(data)
        assert data.read_bytes()[:4096] == block
        with pytest.raises(UsageError, match="is there already"):
            add("noop", file=data)
        assert data.read_bytes()[:4096] == block
        data.unlink()


def test_a_killed_server_leaves_errors_and_no_hang(tmp_path: Path) -> None:
    with place_below(tmp_path) as place:
        device = add("deadline", model="none")
        call("mkfs.ext4", "-q", device)
        call("mount", device, place)
        (place / "before").write_bytes(b"x" * 100_000)
        os.sync()
        kill(device)

        start = time.monotonic()
        assert fails_to_write(place / "after")
        assert time.monotonic() - start < 30
        assert "its server is gone, mounted on" in run("disk", "list").stdout
        assert f"mounted on {place}" in refused(device)

        assert run("restore").stdout == f"removed {device}\n"
        assert listed() == {}
        assert list(RECORDS.iterdir()) == []
        call("umount", place)

        again = add("deadline")
        kill(again)
        assert f"removed {again}: its server was gone" in run("disk", "remove", again).stdout
        assert listed() == {}


def test_force_takes_a_disk_from_its_users(tmp_path: Path) -> None:
    with place_below(tmp_path) as place:
        device = add("cfq")
        call("mkfs.ext4", "-q", device)
        call("mount", device, place)
        (place / "unwritten").write_bytes(b"x" * 1_000_000)
        assert ublk.remove(str(device), force=True)["counts"]["requests"] > 0
        assert not device.exists()
        assert fails_to_write(place / "after")
        call("umount", place)


def test_what_is_wrong_changes_nothing(tmp_path: Path) -> None:
    with place_below(tmp_path):
        device = add("noop")
        before = listed()
        for other in ("/dev/ublkb9", "/dev/null", "ublkb", "/dev/ublkc0"):
            assert f"{other} is not a disk of runoff" in refused(other, UsageError)
        with pytest.raises(UsageError, match="larger than its model"):
            add("cfq", size_mb=100_000)
        run("disk", "add", "--elevator", "anticipatory:antic_expire_ms=2000", expect=64)
        assert run("restore").stdout == "nothing was left behind\n"
        assert listed() == before
        assert str(device) in before
