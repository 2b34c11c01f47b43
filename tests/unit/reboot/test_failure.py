"""A campaign that fails takes back its own unit, and nobody else's."""

from pathlib import Path

import pytest

from runoff.campaign import reboots
from runoff.reboot import unit


@pytest.mark.parametrize(("of", "stays"), [("mine", False), ("other", True)])
def test_only_the_unit_of_the_campaign_that_fails_is_removed(of, stays, tmp_path: Path, monkeypatch):
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
    place = tmp_path / "units"
    place.mkdir()
    monkeypatch.setattr(unit, "PLACE", place)
    monkeypatch.setattr(unit, "_systemctl", lambda *_words: None)
    forgotten = []
    monkeypatch.setattr(
        reboots, "find_bootloader", lambda: type("Loader", (), {"forget_choice": lambda _self: forgotten.append(1)})()
    )
    (place / unit.NAME).write_text(unit.render((tmp_path / of).resolve(), ["true"], {}))
    with pytest.raises(RuntimeError, match="disk"), reboots.put_back_on_failure(tmp_path / "mine"):
        raise RuntimeError("disk")
    assert (place / unit.NAME).exists() == stays
    assert bool(forgotten) == (not stays)
