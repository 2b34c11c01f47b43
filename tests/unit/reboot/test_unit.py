"""The unit that goes on after a boot: what systemd reads of it."""

from pathlib import Path

import pytest

from runoff.errors import UsageError
from runoff.reboot import unit


def test_words_and_values_arrive_as_they_are():
    command = ["/opt/my python", "-m", "runoff", "resume", '/data/50% "best" $HOME\\x', "--reboot"]
    text = unit.render(Path("/data/50%"), command, {"PATH": "/bin:/s bin", "RUNOFF_CACHE": "/c$c", "HOME": "/root"})
    lines = text.splitlines()
    assert 'ExecStart="/opt/my python" "-m" "runoff" "resume" "/data/50%% \\"best\\" $$HOME\\\\x" "--reboot"' in lines
    assert 'Environment="PATH=/bin:/s bin"' in lines
    assert 'Environment="RUNOFF_CACHE=/c$c"' in lines
    assert "ConditionPathExists=/data/50%%" in lines
    assert not [line for line in lines if "HOME=" in line]


def test_the_campaign_of_a_unit_is_found_again_and_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unit, "PLACE", tmp_path)
    assert unit.find_directory() is None
    unit.refuse_other(Path("/data/mine"))
    (tmp_path / unit.NAME).write_text(unit.render(Path("/data/50%"), ["true"], {}))
    assert unit.find_directory() == Path("/data/50%")
    unit.refuse_other(Path("/data/50%"))
    with pytest.raises(UsageError, match=r"another campaign goes on after each boot, in /data/50%: .*runoff restore"):
        unit.refuse_other(Path("/data/mine"))


@pytest.mark.parametrize("where", ["directory", "command", "environment", "working directory"])
def test_nothing_becomes_another_line_of_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str):
    evil = "a b\n[Service]\nExecStartPre=/bin/touch pwned"
    (tmp_path / "x\ny").mkdir()
    if where == "working directory":
        monkeypatch.chdir(tmp_path / "x\ny")
    words = {"directory": Path("/c"), "command": ["true"], "environment": {"PATH": "/bin"}}
    words |= {"directory": {"directory": Path("/", evil)}, "command": {"command": [evil]},
              "environment": {"environment": {"PATH": evil}}}.get(where, {})  # fmt: skip
    with pytest.raises(UsageError, match="has a character that a unit of systemd cannot"):
        unit.render(**words)  # type: ignore[arg-type]
