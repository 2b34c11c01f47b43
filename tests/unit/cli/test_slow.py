"""What takes long says what it is, and what does not says nothing."""

import time

import pytest

from runoff.cli import slow
from runoff.cli.slow import name_if_slow


def test_what_is_slow_is_named_while_it_lasts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(slow, "PATIENCE_S", 0.0)
    said = ""
    with name_if_slow("counting"):
        while not said:
            time.sleep(0.001)
            said = capsys.readouterr().err
    assert said == "counting ...\n"


def test_what_ends_before_is_not(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(slow, "PATIENCE_S", 3600.0)
    with pytest.raises(ValueError, match="wrong"), name_if_slow("counting"):
        raise ValueError("wrong")
    assert capsys.readouterr().err == ""
