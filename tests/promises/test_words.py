"""What every command promises of words that it does not know."""

from pathlib import Path

import pytest
from doors import list_commands

from runoff.cli.main import main

COMMANDS = list_commands()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_word_is_one_sentence(command: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["runoff", *command.split(), "--no-such-option"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 64
    assert said.out == ""
    *usage, sentence = said.err.rstrip().splitlines()
    assert "--no-such-option" in sentence
    assert all(line.startswith(("Usage: ", "Try ")) for line in usage if line)
    assert list(tmp_path.iterdir()) == []
