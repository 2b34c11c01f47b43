"""Files are written whole or not at all, through no link; a directory that is replaced is noticed."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from runoff.files import NEW, HeldDirectory, append_output, make_directories, write_output, write_whole


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
            os.replace = end
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


def test_what_is_written_stays_in_the_directory_that_is_held(tmp_path: Path, victim: Path) -> None:
    place, elsewhere, other = tmp_path / "c", tmp_path / "d", tmp_path / "other"
    place.mkdir()
    other.mkdir()
    (other / "page").write_text("keep")
    with HeldDirectory(place) as held:
        place.rename(elsewhere)
        place.symlink_to(other)
        held.write_whole("page", b"new")
        held.write_whole(Path("inside", "page"), b"newer")
    assert (elsewhere / "page").read_text() == "new"
    assert (elsewhere / "inside" / "page").read_text() == "newer"
    assert [path.name for path in other.iterdir()] == ["page"]
    assert (other / "page").read_text() == "keep"


def test_folders_in_it_are_made_and_no_link_is_followed(tmp_path: Path) -> None:
    with HeldDirectory(tmp_path) as held:
        held.write_whole(Path("a", "b", "page"), b"new")
        (tmp_path / "link").symlink_to(tmp_path / "a")
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            held.write_whole(Path("link", "page"), b"new")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_file_has_the_permissions_that_are_asked_for(tmp_path: Path, mode: int) -> None:
    before = os.umask(0o077)
    try:
        write_whole(tmp_path / "copy", b"x", mode)
    finally:
        os.umask(before)
    assert (tmp_path / "copy").stat().st_mode & 0o7777 == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="others may not keep their group from writing")
def test_what_root_makes_is_written_by_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_directories(tmp_path / "a" / "b")
        write_whole(tmp_path / "a" / "page", b"x")
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o022 for path in (tmp_path / "a", tmp_path / "a/b", tmp_path / "a/page")]
    assert modes == [0, 0, 0]


def test_a_directory_for_all_below_dev_holds_files_as_any_other() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
        place = Path(made)
        (place / "victim").write_text("kept")
        for write in (write_output, append_output):
            write(place / "new", "one")
            (place / "link").symlink_to("victim")
            with contextlib.suppress(OSError):
                write(place / "link", "through")
            (place / "link").unlink()
            assert (place / "victim").read_text() == "kept"
        assert (place / "new").read_text() == "oneone"


def test_an_output_is_a_whole_file_a_pipe_or_a_device_but_nothing_behind_a_link(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "link").symlink_to(victim)
    write_output(tmp_path / "link", "new")
    assert (victim.read_text(), (tmp_path / "link").read_text()) == ("keep", "new")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_output(tmp_path / "pipe", "streamed")
    assert os.read(reader, 99) == b"streamed"
    os.close(reader)
    write_output(Path("/dev/null"), "nothing")
    # Somebody's link to a device is not written into either.
    (tmp_path / "device").symlink_to("/dev/full")
    write_output(tmp_path / "device", "kept")
    assert (tmp_path / "device").read_text() == "kept"


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
