"""``runoff disk``: what it refuses before it asks the kernel for anything, and what it prints."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runoff.cli.disk import command
from runoff.engines.questions import describe_elevators
from runoff.errors import MissingError, RunoffError, UsageError

NO_UBLK = pytest.mark.skipif(Path("/dev/ublk-control").exists(), reason="this machine has ublk devices")
COUNTS = {
    "requests": 40,
    "served": 20,
    "sectors_read": 4096,
    "sectors_written": 1024,
    "busy_ns": 1_250_000_000,
    "late": 1,
    "latest_ns": 400_000,
}
DISK = {
    "elevator": "anticipatory",
    "parameters": {"antic_expire_ms": "8"},
    "model": "ide2003",
    "size_mb": 4096,
    "file": None,
    "identity": "process",
}


def disk(*words: str | Path) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def refused(*words: str | Path, kind: type[RunoffError]) -> str:
    result = disk(*words)
    assert type(result.exception) is kind, result.output
    return str(result.exception)


def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    """A process in the agent's place that gives a chosen answer: how it is shown is the subject."""
    path = tmp_path / "agent"
    path.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("RUNOFF_AGENT", str(path))
    monkeypatch.setattr("os.geteuid", lambda: 0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--elevator", "cfs"), "--elevator cfs: unknown elevator 'cfs'; did you mean 'cfq'?"),
        (("--elevator", "anticipatory:antic_expire_ms=1001"), "antic_expire_ms=1001 is out of its range 0..1000 ms"),
        (("--elevator", "cfq", "--model", "ide2004"), "unknown model 'ide2004'"),
        (("--elevator", "cfq", "--model", "ide2003:rpm=1"), "rpm=1 is out of its range"),
        (("--elevator", "cfq", "--size", "40G"), "has 38085 MiB, not the 40960 MiB that are wanted"),
    ],
)
def test_what_no_disk_can_be_is_a_usage_error_that_makes_no_file(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refused("add", *words, "--file", tmp_path / "data", kind=UsageError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", ["4", "0M", "4T", "-4G", "1.5G", "4 G", "\N{ARABIC-INDIC DIGIT FOUR}G"])
def test_a_word_that_is_not_a_size_is_refused(size: str) -> None:
    result = disk("add", "--elevator", "cfq", "--size", size)
    assert result.exit_code == 2
    assert "such as 512M or 4G" in result.output


@pytest.mark.parametrize("words", [("add", "--elevator", "cfq"), ("remove", "/dev/ublkb0")])
def test_without_root_nothing_is_tried(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "needs root: sudo " in refused(*words, kind=MissingError)


@NO_UBLK
def test_a_kernel_without_ublk_gets_the_name_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    words = ("add", "--elevator", "cfq", "--size", "1M", "--file", tmp_path / "data")
    assert "modprobe ublk_drv" in refused(*words, kind=MissingError)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_keeps_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    data = tmp_path / "data"
    data.write_text("precious")
    assert "is there already" in refused("add", "--elevator", "cfq", "--file", data, kind=UsageError)
    assert data.read_text() == "precious"


def test_a_link_that_leads_nowhere_is_there_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    link, target = tmp_path / "data", tmp_path / "target"
    link.symlink_to(target)
    assert "is there already" in refused("add", "--elevator", "cfq", "--file", link, kind=UsageError)
    assert link.is_symlink()
    assert not target.exists()


def test_a_file_that_another_process_makes_meanwhile_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent refuses it, as it makes files only where there is nothing."""
    describe_elevators()
    data, path = tmp_path / "data", tmp_path / "agent"
    path.write_text(f"#!/bin/sh\necho precious > {data}\necho there >&2\nexit 64\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("RUNOFF_AGENT", str(path))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert refused("add", "--elevator", "cfq", "--file", data, kind=UsageError) == "there"
    assert data.read_text() == "precious\n"


@NO_UBLK
def test_where_there_is_no_disk_none_is_listed_and_none_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert json.loads(disk("list", "--json").output) == []
    assert "runoff disk add" in disk("list").output
    for device in ("/dev/ublkb0", "ublkb0", "/dev/sda", "ublkb"):
        assert f"{device} is not a disk of runoff" in refused("remove", device, kind=UsageError)


def test_the_list_says_what_each_disk_is_and_who_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody: dict[str, object] = {"mounted_on": [], "open_in": [], "claimed": False}
    users = {"mounted_on": ["/mnt"], "open_in": [{"pid": 7, "name": "dd"}], "claimed": False}
    found = [
        {"device": "/dev/ublkb0", "server": 42, "disk": DISK, "users": users},
        {"device": "/dev/ublkb1", "server": None, "disk": {**DISK, "parameters": {}, "file": "/d"}, "users": nobody},
        {"device": "/dev/ublkb2", "server": 43, "disk": None, "users": {**nobody, "claimed": True}},
    ]
    agent(tmp_path, monkeypatch, found)
    assert disk("list").output.splitlines() == [
        "/dev/ublkb0  anticipatory:antic_expire_ms=8 on ide2003, 4096 MiB in memory, server 42, mounted on /mnt, "
        "open in process 7 (dd)",
        "/dev/ublkb1  anticipatory on ide2003, 4096 MiB in /d, its server is gone",
        "/dev/ublkb2  its server has not said what it is, server 43, used as swap space or below another device",
    ]
    assert json.loads(disk("list", "--json").output) == found


def test_a_removed_disk_has_its_counts_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent(tmp_path, monkeypatch, {"device": "/dev/ublkb0", "disk": DISK, "counts": COUNTS})
    assert disk("remove", "/dev/ublkb0").output == (
        "removed /dev/ublkb0: 40 requests, served as 20, 2.0 MiB read, 0.5 MiB written, busy for 1.25 s, 5.0 % late\n"
    )
    agent(tmp_path, monkeypatch, {"device": "/dev/ublkb0", "disk": {**DISK, "file": "/d"}, "counts": None})
    assert disk("remove", "/dev/ublkb0").output.splitlines() == [
        "removed /dev/ublkb0: its server was gone, and with it what it had counted",
        "its data are in /d",
    ]
