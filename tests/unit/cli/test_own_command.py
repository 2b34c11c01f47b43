"""What is printed to be typed: runoff for root, and libraries that are really called so."""

import re
import sys
from pathlib import Path

import pytest

from runoff import installed


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("/usr/local/bin/runoff", "sudo runoff"),
        ("/usr/bin/runoff", "sudo runoff"),
        ("/home/u/.local/bin/runoff", "sudo ~/.local/bin/runoff"),
        ("/srv/a b/runoff", "sudo '/srv/a b/runoff'"),
    ],
)
def test_root_finds_this_runoff(called: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """pipx puts it where sudo does not look."""
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setattr(sys, "argv", [called])
    assert installed.name_command_for_root() == name


def test_whoever_calls_it_by_its_name_is_found_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "runoff").touch(0o755)
    monkeypatch.setattr(sys, "argv", ["runoff"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed.name_command_for_root() == f"sudo {tmp_path}/runoff"
    monkeypatch.setenv("PATH", "/nowhere")
    assert installed.name_command_for_root() == "sudo runoff"


def test_libraries_are_named_as_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """No index has a project with the name of this one."""
    monkeypatch.setattr(sys, "prefix", "/home/u/.local/share/pipx/venvs/runoff")
    assert re.fullmatch(r"pipx inject runoff 'ruptures[<>=.,0-9]+'", installed.describe_adding("history"))
    assert installed.describe_adding("cluster").split()[:3] == ["pipx", "inject", "runoff"]
    assert "distributed" in installed.describe_adding("cluster")
    assert "cryptography" in installed.describe_adding("cluster")
    monkeypatch.setattr(sys, "prefix", "/srv/venv")
    assert " -m pip install " in installed.describe_adding("history")
    assert "runoff[" not in installed.describe_adding("history")
