"""The command of ``--notify``: it gets the result, and cannot change it."""

from pathlib import Path

import pytest
from command import run

from runoff.cli.campaign import notify

TELL = 'echo "$RUNOFF_EXIT_CODE|$RUNOFF_DIRECTORY|$RUNOFF_MESSAGE" > {}'


def test_it_gets_directory_exit_code_and_message(tmp_path: Path):
    notify(TELL.format(tmp_path / "told"), tmp_path / "c", 2, "bfs is `better`; $HOME")
    assert (tmp_path / "told").read_text() == f"2|{tmp_path / 'c'}|bfs is `better`; $HOME\n"


def test_a_campaign_that_fails_tells_why(tmp_path: Path):
    words = ("compare", "default", "--work", "counters", "--on", "host", "--kernel", "debian", "--out", tmp_path / "c")
    failed = run(*words, "--notify", TELL.format(tmp_path / "told"), expect=64)
    told = (tmp_path / "told").read_text()
    assert told.startswith(f"64|{tmp_path / 'c'}|--kernel needs --on lab")
    assert "--kernel needs --on lab" in failed.stderr


def test_one_that_fails_is_told_and_changes_nothing(capfd: pytest.CaptureFixture[str]):
    notify("exit 3", None, 0, "fine")
    assert capfd.readouterr().err == "the command of --notify ended with code 3: exit 3\n"


def test_without_a_command_nothing_is_run():
    notify(None, None, 0, "fine")
