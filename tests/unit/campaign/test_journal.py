"""The journal: durable, exclusive, and honest about files that are not its own."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from runoff.campaign.journal.journal import FILE, Journal
from runoff.engines.outcome import ValidSample, VoidSample
from runoff.errors import MissingError, UsageError
from runoff.plan.order import draw
from runoff.results import Conditions

CELLS = draw(2, 1, [2], seed=1)
CONDITIONS = Conditions("2026-01-02T03:04:05.006+00:00", 0.25, frequency_khz=2400000)


def test_samples_survive_being_closed_and_come_back_in_run_order(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "c", {"seed": 1}) as journal:
        journal.add(CELLS[1], "bfs", "w", "", VoidSample("ejected", "log"))
        journal.add(CELLS[0], "default", "w", "", ValidSample({"time_s": 0.1 + 0.2}, {"before": {}}), CONDITIONS)
    with Journal.open(tmp_path / "c", write=True) as journal:
        assert journal.fact("seed") == 1
        assert journal.done() == {CELLS[0].id, CELLS[1].id}
        first, second = journal.rows()
    assert first.metrics == {"time_s": 0.1 + 0.2}
    assert first.conditions == CONDITIONS
    assert second.conditions is None
    assert (second.valid, second.reason, second.detail) == (False, "ejected", "log")


def test_samples_that_a_campaign_begins_with_are_there_all_or_none(tmp_path: Path) -> None:
    def fill(journal: Journal) -> None:
        journal.add(CELLS[0], "a", "w", "", VoidSample("x"))
        if not can_end:
            raise KeyboardInterrupt

    can_end = False
    with pytest.raises(KeyboardInterrupt):
        Journal.create(tmp_path / "c", {"seed": 1}, fill=fill)
    assert not (tmp_path / "c" / FILE).exists()
    can_end = True
    Journal.create(tmp_path / "c", {"seed": 1}, fill=fill).close()
    with Journal.open(tmp_path / "c", write=True) as journal:
        assert (journal.fact("seed"), journal.done()) == (1, {CELLS[0].id})
        journal.add(CELLS[1], "b", "w", "", VoidSample("y"))


def test_one_cell_has_one_sample(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "c", {}) as journal:
        journal.add(CELLS[0], "a", "w", "", VoidSample("x"))
        with pytest.raises(sqlite3.IntegrityError):
            journal.add(CELLS[0], "a", "w", "", VoidSample("y"))


def test_a_directory_with_anything_in_it_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match="is not empty"):
        Journal.create(tmp_path, {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_reader_finds_a_whole_journal_or_none_while_it_is_made(tmp_path: Path) -> None:
    directories = [tmp_path / str(number) for number in range(30)]
    program = (
        "import sys; from pathlib import Path; from runoff.campaign.journal.journal import Journal\n"
        "for directory in sys.argv[1:]: Journal.create(Path(directory), {'seed': 1}).close()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, *map(str, directories)]) as maker:
        for directory in directories:
            while not (directory / FILE).exists():
                assert maker.poll() in (None, 0)
            with Journal.open(directory, write=False) as journal:
                assert journal.fact("seed") == 1
    assert maker.returncode == 0


def test_leftovers_of_a_runoff_killed_while_making_it_are_not_an_obstacle(tmp_path: Path) -> None:
    for name in (f"{FILE}.new", f"{FILE}.new-wal", f"{FILE}.new-shm"):
        (tmp_path / name).write_text("half")
    with Journal.create(tmp_path, {"seed": 2}):
        pass
    with Journal.open(tmp_path, write=True) as journal:
        assert journal.fact("seed") == 2
    assert {entry.name for entry in tmp_path.iterdir()} == {FILE}


def test_two_runs_on_one_directory(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "c", {}):
        with pytest.raises(UsageError, match="another runoff is working in"):
            Journal.open(tmp_path / "c", write=True)
        Journal.open(tmp_path / "c", write=False).close()


def test_a_killed_writer_leaves_every_finished_sample_and_no_lock(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from runoff.campaign.journal.journal import Journal; from runoff.plan.order import draw\n"
        "from runoff.engines.outcome import ValidSample\n"
        "journal = Journal.create(Path(sys.argv[1]), {}); cells = draw(2, 1, [2], seed=1)\n"
        "journal.add(cells[0], 'a', 'w', '', ValidSample({'t': 1.0}, {}))\n"
        "journal._connection.execute('BEGIN')\n"
        'journal._connection.execute("UPDATE head SET number = 99")\n'
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "c")], check=False)
    assert done.returncode == -9
    with Journal.open(tmp_path / "c", write=True) as journal:
        assert journal.done() == {CELLS[0].id}
        assert journal.fact("half") is None


def test_a_directory_of_campaigns_is_none_and_names_them(tmp_path: Path) -> None:
    for cpus in (1, 2, 4, 8, 16):
        Journal.create(tmp_path / f"{cpus:02}-cpus", {"seed": 1}).close()
    with pytest.raises(UsageError, match="in it: 01-cpus, 02-cpus, 04-cpus, 08-cpus and 1 more"):
        Journal.open(tmp_path, write=True)


def test_foreign_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a campaign"):
        Journal.open(tmp_path, write=True)
    sqlite3.connect(tmp_path / FILE).execute("CREATE TABLE cats (name)")
    with pytest.raises(UsageError, match="was not written by runoff"):
        Journal.open(tmp_path, write=False)
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(UsageError, match="is damaged"):
        Journal.open(tmp_path, write=False)


def test_a_cut_off_journal_is_refused(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "c", {}) as journal:
        for cell in CELLS:
            journal.add(cell, "a", "w", "", VoidSample("x" * 5000))
    path = tmp_path / "c" / FILE
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UsageError, match="is damaged"):
        Journal.open(tmp_path / "c", write=False)


def test_a_full_disk_is_explained_and_keeps_what_was_written(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "c", {}) as journal:
        journal.add(CELLS[0], "a", "w", "", VoidSample("x"))
        # SQLite's own limit stands for the disk's: the same error reaches us by the same way.
        journal._connection.execute("PRAGMA max_page_count=1")
        with pytest.raises(MissingError, match="full"):
            journal.add(CELLS[1], "a", "w", "", VoidSample("y" * 100_000))
        assert journal.done() == {CELLS[0].id}


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MissingError, match="cannot use the directory"):
        Journal.create(tmp_path / "file" / "c", {})


@pytest.mark.parametrize("version", [4, 6])
def test_a_journal_of_another_format_is_left_alone(tmp_path: Path, version: int) -> None:
    """Format 4 had no chain: whether its rows are what was written cannot be told."""
    Journal.create(tmp_path / "c", {"seed": 1}).close()
    connection = sqlite3.connect(tmp_path / "c" / FILE)
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    for write in (True, False):
        with pytest.raises(UsageError) as caught:
            Journal.open(tmp_path / "c", write=write)
        assert f"has format {version}, this runoff reads 5: use the runoff that wrote it" in str(caught.value)
