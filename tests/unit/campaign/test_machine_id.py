"""The id by which two campaigns of one machine are known."""

from pathlib import Path

import pytest

from runoff.engines import conditions


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    found = (tmp_path / "machine-id", tmp_path / "dbus")
    monkeypatch.setattr(conditions, "MACHINE_ID_FILES", found)
    return found


def test_it_is_the_same_each_time_and_does_not_give_the_machines_own_away(files: tuple[Path, Path]):
    files[0].write_text("0123456789abcdef0123456789abcdef\n")
    found = conditions.read_machine_id()
    assert found == conditions.read_machine_id()
    assert len(found) == 16
    assert found not in files[0].read_text()
    files[0].write_text("0123456789abcdef0123456789abcdee\n")
    assert conditions.read_machine_id() != found


def test_another_file_is_read_where_the_first_is_missing_or_empty(files: tuple[Path, Path]):
    assert conditions.read_machine_id() == ""
    files[0].touch()
    assert conditions.read_machine_id() == ""
    files[1].write_text("abc\n")
    assert conditions.read_machine_id()
