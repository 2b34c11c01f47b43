"""What the cache holds, and what of it goes."""

import fcntl
import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from runoff.cli.cache import command
from runoff.engines.lab import holdings, kernel
from runoff.errors import MissingError

DAY_S = 86400


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel of this runoff and one of another, and two guests, one of them not used for ten days."""
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path))
    directory = kernel.directory_of("debian:7.3.4")
    meta = kernel.Meta("debian:7.3.4", "7.3.4", "1", True, True, 250, True, "00", "00", None, {})
    for folder in (
        directory,
        directory.with_name("debian_6.12-format0"),
        tmp_path / "snapshots/new",
        tmp_path / "snapshots/old",
    ):
        folder.mkdir(parents=True)
        (folder / "content").write_bytes(bytes(1 << 20))
        (folder.parent / f".{folder.name}.lock").touch()
    kernel.write_meta(directory, meta)
    for folder in (tmp_path / "snapshots/old", directory, directory.with_name("debian_6.12-format0")):
        os.utime(folder, (0, time.time() - 10 * DAY_S))
    return tmp_path


def names(found: list[holdings.Holding]) -> list[tuple[str, str]]:
    return [(each.kind, each.name) for each in found]


def test_all_is_listed_by_the_names_of_its_commands(cache: Path):
    found = holdings.list_holdings()
    assert set(names(found)) == {
        ("kernel", "debian:7.3.4"), ("kernel", "debian_6.12-format0"), ("guest", "new"), ("guest", "old"),
    }  # fmt: skip
    assert [each.is_needed for each in found if each.name == "debian:7.3.4"] == [True]
    assert all(each.size_bytes >= 1 << 20 for each in found)


def test_what_is_old_and_not_needed_goes(cache: Path):
    assert names(holdings.prune(7, is_dry=True)) == names(holdings.prune(7))
    assert set(names(holdings.list_holdings())) == {("kernel", "debian:7.3.4"), ("guest", "new")}


def test_what_was_used_a_moment_ago_stays_whatever_is_asked(cache: Path):
    holdings.prune(0)
    assert ("guest", "new") in names(holdings.list_holdings())


def test_everything_goes_if_asked(cache: Path):
    assert CliRunner().invoke(command, ["prune", "--everything"]).output.endswith("4 MiB were removed\n")
    assert holdings.list_holdings() == []


def test_what_another_runoff_holds_stays(cache: Path):
    with (cache / "snapshots/.old.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        holdings.prune(7)
    assert ("guest", "old") in names(holdings.list_holdings())


def test_a_dry_run_removes_nothing_and_says_so(cache: Path):
    told = CliRunner().invoke(command, ["prune", "--dry-run", "--days", "7"]).output
    assert told.endswith("2 MiB would be removed\n")
    assert len(holdings.list_holdings()) == 4
    assert CliRunner().invoke(command, ["prune"]).output.endswith("2 MiB were removed\n")


def test_json(cache: Path):
    entries = json.loads(CliRunner().invoke(command, ["list", "--json"]).output)
    assert {entry["name"]: entry["needed"] for entry in entries}["old"] is False


def test_an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "none"))
    assert CliRunner().invoke(command, ["list"]).output == f"0 MiB in {tmp_path / 'none'}\n"
    assert CliRunner().invoke(command, ["prune"]).output == "0 MiB were removed\n"


def test_a_lock_behind_a_link_is_refused_and_what_it_leads_to_stays(cache: Path):
    (cache / "victim").write_text("keep")
    lock = cache / "snapshots" / ".old.lock"
    lock.unlink()
    lock.symlink_to(cache / "victim")
    with pytest.raises(MissingError, match=r"\.old\.lock cannot be written"):
        holdings.prune(7)
    assert (cache / "victim").read_text() == "keep"


@pytest.mark.parametrize("kind", ["snapshots", "kernels", "images", "received"])
def test_links_and_files_go_and_what_a_link_leads_to_stays(cache: Path, kind: str):
    (cache / "thesis").mkdir()
    (cache / "thesis" / "text").touch()
    (cache / kind).mkdir(exist_ok=True)
    for name, target in (("link", cache / "thesis"), ("dangling", cache / "nowhere")):
        (cache / kind / name).symlink_to(target)
        os.utime(cache / kind / name, (0, 0), follow_symlinks=False)
    (cache / kind / "file").touch()
    os.utime(cache / kind / "file", (0, 0))
    gone = {name for _, name in names(holdings.prune(7))}
    assert {"link", "dangling", "file", "old"} <= gone
    assert [path.name for path in (cache / kind).glob("[!.]*") if path.name in ("link", "dangling", "file")] == []
    assert (cache / "thesis" / "text").exists()
