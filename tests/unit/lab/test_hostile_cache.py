"""Root boots and runs nothing of a cache that others may change, and uses no place of theirs for temporary files."""

import tempfile
from pathlib import Path

import pytest
from strangers import ROOT_ONLY, give_acl, give_to_nobody, runoff

from runoff.errors import UsageError
from runoff.files import temporary_directory

pytestmark = ROOT_ONLY


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    (tmp_path / "theirs").mkdir()
    give_to_nobody(tmp_path / "theirs")
    return tmp_path / "theirs"


@pytest.mark.parametrize(
    "words",
    [
        ("kernel", "list"),
        ("image", "build", "--work", "hackbench"),
        ("qemu", "list"),
        ("cache", "list"),
        ("cache", "prune"),
        ("compare", "default", "--work", "hackbench", "--blocks", "1"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("below", ["", "new"])
def test_a_strangers_cache_is_refused(
    words: tuple[str, ...], below: str, theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNOFF_CACHE", str(theirs / below))
    done = runoff(*words)
    assert done.returncode == 64
    assert done.stderr.startswith(f"{theirs} belongs to nobody")
    assert "RUNOFF_CACHE" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(theirs.iterdir()) == []


def test_a_cache_with_a_list_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").mkdir()
    give_acl(tmp_path / "cache")
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    assert "can be written by others" in runoff("kernel", "list").stderr


def test_a_strangers_place_for_temporary_files_is_refused(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(theirs))
    with pytest.raises(UsageError, match=r"theirs belongs to nobody .* set TMPDIR"), temporary_directory():
        pass
    assert list(theirs.iterdir()) == []


def test_one_that_all_share_is_used_and_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_directory() as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []
