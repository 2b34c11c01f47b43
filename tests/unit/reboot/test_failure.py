"""A campaign that fails or is ended takes back its own unit and choice, and nobody else's."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from boot_programs import BootPrograms, make_programs
from cli_runner import ask

from runoff.campaign.conduct import CampaignResult
from runoff.campaign.loop.execution import Ending, Execution
from runoff.campaign.loop.reboots import put_back_on_failure, remove_left
from runoff.cli import restore
from runoff.cli.campaign import finish
from runoff.cli.options import RunOptions
from runoff.engines.agent import StaysError
from runoff.errors import RunoffError
from runoff.files import Identity
from runoff.reboot import unit
from runoff.results import Results

MINE, OTHER = Path("/campaigns/mine"), Path("/campaigns/other")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BootPrograms:
    """One that boots another kernel next."""
    made = make_programs(tmp_path, monkeypatch, "next_entry")
    (made.grub / "grubenv").write_text("next_entry=0\n")
    return made


def is_prepared(machine: BootPrograms) -> bool:
    """Whether the next boot is still the campaign's: both parts of that go together."""
    assert machine.has_unit == bool(machine.choice)
    return machine.has_unit


@pytest.mark.parametrize(("of", "stays"), [(MINE, False), (OTHER, True)])
def test_only_the_unit_of_the_campaign_that_fails_is_removed(machine, of: Path, stays: bool):
    unit.install(of, [], 1)
    with pytest.raises(RuntimeError, match="disk"), put_back_on_failure(MINE):
        raise RuntimeError("disk")
    assert is_prepared(machine) == stays


@pytest.fixture
def hears_of_hangups() -> Iterator[None]:
    """Under nohup SIGHUP is ignored, here and by runoff."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hears_of_hangups")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("state", "stays"), [("running", False), ("stopping", True)])
def test_what_stops_it_before_a_sample_ends_it_unless_the_machine_shuts_down(machine, number, state: str, stays: bool):
    unit.install(MINE, [], 1)
    machine.tell(state=state)
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), put_back_on_failure(MINE):
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) == before
    assert is_prepared(machine) == stays


@pytest.mark.parametrize("refusal", ["", 'Operation inhibited by "apt"'])
def test_a_boot_that_is_refused_leaves_nothing(machine, tmp_path: Path, refusal: str):
    unit.install(MINE, [], 1)
    machine.tell(refusal=refusal)
    told = tmp_path / "told"
    options = RunOptions(
        MINE,
        as_json=False,
        execution=Execution(reboot=()),
        notify=f'printf "%s" "$RUNOFF_EXIT_CODE" >{told}',
        verbose=False,
    )
    other = CampaignResult(MINE, Ending.OTHER_KERNEL, Results.__new__(Results), Identity(0, 0), "6.18")
    if not refusal:
        assert finish(other, options) == 0
    else:
        with pytest.raises(RunoffError, match=r"Operation inhibited by ") as refused:
            finish(other, options)
        assert refused.value.hint == ("resume", str(MINE), "--reboot")
        assert told.read_text() == "1"
    assert is_prepared(machine) == (not refusal)


@pytest.mark.parametrize("systemd", [True, False])
@pytest.mark.parametrize(
    ("text", "where"),
    [(None, "/campaigns/mine"), ("[Service]\nExecStart=/usr/bin/runoff resume /c\n", "runoff-campaign.service")],
)
def test_restore_ends_the_campaign_of_any_version_with_systemd_or_without(machine, monkeypatch, systemd, text, where):
    unit.install(MINE, [], 1)
    if text is not None:
        (machine.units / unit.NAME).write_text(text)
    if not systemd:
        (machine.folder / "running").rmdir()
        (machine.folder / "bin" / "systemctl").unlink()
    monkeypatch.setattr(restore, "sweep", lambda: "")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    answer = ask(restore.command)
    assert where in answer.output
    assert "does not go on after the next boot any more" in answer.output
    assert not is_prepared(machine)
    assert ("stop --no-block runoff-campaign.service" in (machine.folder / "systemctl.log").read_text()) == systemd
    assert "nothing was left behind" in ask(restore.command).output


def test_restore_ends_the_campaign_where_the_bootloader_is_gone(machine):
    unit.install(MINE, [], 1)
    (machine.grub / "grub.cfg").unlink()
    assert "/campaigns/mine does not go on" in remove_left()
    assert not machine.has_unit


def test_restore_says_what_it_removed_where_the_bootloader_does_not_forget(machine):
    unit.install(MINE, [], 1)
    (machine.folder / "bin" / "grub-editenv").write_text("#!/bin/sh\necho read-only >&2; exit 1\n")
    with pytest.raises(StaysError, match="read-only") as caught:
        remove_left()
    assert "/campaigns/mine does not go on" in caught.value.done
    assert not machine.has_unit
