"""Commands that are given no directory take the newest campaign below results."""

import os
from pathlib import Path

import pytest
from cli_runner import run
from made_campaigns import made, noisy


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def age(campaign: Path, seconds: float) -> None:
    journal = campaign / "journal.sqlite"
    at = journal.stat().st_mtime - seconds
    os.utime(journal, (at, at))


def test_the_campaign_that_was_written_last_is_taken_and_named(here: Path) -> None:
    (here / "results/zzz").mkdir(parents=True)
    for number, (name, change) in enumerate((("b", 0.1), ("c", 0.5), ("a", 0.9))):
        age(made(here / "results" / name, noisy(0.0, change)), 60 * (1 + number))
    done = run("report")
    assert "the newest campaign: results/b\n" in done.stderr
    assert done.stdout == run("report", "results/b").stdout
    age(here / "results/b", 3600)
    assert "the newest campaign: results/c\n" in run("gate", "--max-regression", "90%").stderr
    assert "the newest campaign: results/c\n" in run("resume").stderr


@pytest.mark.parametrize("make", [lambda _: None, Path.mkdir, Path.touch])
def test_without_one_there_is_a_sentence(here: Path, make) -> None:
    make(here / "results")
    for command in ("report", "gate", "resume"):
        assert run(command, expect=64).stderr == "runoff: no campaign is below results: name its directory\n"
