"""Files are written whole or not at all, through no link; a directory that is replaced is noticed."""

import os
from pathlib import Path

import pytest

from runoff.files import NEW, HeldDirectory, make_folder, read_own, write_whole


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("keep")
    return path


@pytest.mark.parametrize("name", ["page", f"page{NEW}"])
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_what_a_link_leads_to_stays_as_it_is(tmp_path: Path, victim: Path, name: str, link: object) -> None:
    assert callable(link)
    link(victim, tmp_path / name)
    write_whole(tmp_path / "page", b"new")
    assert (victim.read_text(), (tmp_path / "page").read_text()) == ("keep", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page", "victim"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_crash_at_any_step_leaves_the_old_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """The process ends where the step would be: nothing after it, not even clean-up, happens."""
    page = tmp_path / "page"
    write_whole(page, b"old")
    pid = os.fork()
    if pid == 0:
        end = lambda *_args, **_more: os._exit(9)  # noqa: E731
        if step == "replace":
            Path.replace = end  # type: ignore[method-assign]
        elif step == "fsync":
            os.fsync = end
        else:
            os.open = end  # type: ignore[assignment]
        write_whole(page, b"new")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    assert page.read_bytes() == b"old"
    write_whole(page, b"newer")
    assert page.read_bytes() == b"newer"
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_no_link_pipe_or_device_is_read(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "link").symlink_to(victim)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert read_own(victim) == b"keep"
    for name, why in (("link", "symbolic links"), ("pipe", "not a file"), ("folder", "directory|not a file")):
        with pytest.raises(OSError, match=why):
            read_own(tmp_path / name)


def test_a_folder_is_made_once_and_not_through_a_link(tmp_path: Path) -> None:
    make_folder(tmp_path / "a")
    make_folder(tmp_path / "a")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="Not a directory"):
        make_folder(tmp_path / "b")


def test_a_directory_that_is_moved_removed_or_replaced_is_noticed(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "c", tmp_path / "d"
    place.mkdir()
    held = HeldDirectory(place)
    assert held.is_in_place
    place.rename(elsewhere)
    assert not held.is_in_place
    place.mkdir()
    assert not held.is_in_place
    assert held.present_path == elsewhere
    place.rmdir()
    place.symlink_to(elsewhere)
    assert held.is_in_place
    elsewhere.rmdir()
    assert not held.is_in_place
    assert held.present_path is None
    held.close()


def test_the_lock_needs_no_file(tmp_path: Path) -> None:
    first, second = HeldDirectory(tmp_path), HeldDirectory(tmp_path)
    assert first.lock()
    assert not second.lock()
    first.close()
    assert second.lock()
    second.close()
    assert list(tmp_path.iterdir()) == []
