"""What the boots of a campaign were: which of them failed, and when a kernel is given up."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from boot_programs import BootPrograms, make_programs

from runoff.campaign import directory
from runoff.campaign.journal.journal import Journal
from runoff.campaign.loop import reboots
from runoff.campaign.loop.reboots import Reboots, find_stop_limit_s, put_back_on_failure, remove_left
from runoff.engines import boots
from runoff.engines.outcome import ValidSample
from runoff.errors import MissingError, UsageError
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import parse_settings
from runoff.reboot import unit

OLD, NEW = "6.12.57", "6.18.5"
MENU = "next_entry\n" + "".join(
    f"menuentry 'Linux {release}' {{\n\tlinux /vmlinuz-{release} ro\n}}\n" for release in (OLD, NEW)
)


class Machine:
    """A machine with two kernels that runs the old one when nobody chooses."""

    def __init__(self, folder: Path, programs: BootPrograms, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.programs = programs
        self._patch = monkeypatch
        self._id = folder / "boot_id"
        self._boots = 0
        for release in (OLD, NEW):
            (folder / "modules" / release).mkdir(parents=True)
            (folder / "boot" / f"vmlinuz-{release}").write_text(release)
        monkeypatch.setattr(boots, "BOOT", folder / "boot")
        monkeypatch.setattr(boots, "MODULES", folder / "modules")
        monkeypatch.setattr(reboots, "_BOOT_ID", self._id)
        monkeypatch.setattr(reboots, "_require_lasting", lambda _directory: None)
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        self.boot(OLD)

    def boot(self, release: str, *, forgets: bool = True) -> None:
        """Let this kernel come, whatever was chosen."""
        self._boots += 1
        self._id.write_text(f"{self._boots}\n")
        self._patch.setattr(boots, "read_running", lambda: release)
        if forgets:
            (self.programs.grub / "grubenv").write_text("")

    def plan(self) -> Plan:
        arms = (f"default@host:{OLD}", f"default@host:{NEW}")
        return make_plan(
            parse_settings({"on": "host", "arms": arms, "workloads": ("hackbench",), "blocks": 3, "seed": 1}, "test")
        )

    def begin(self, name: str) -> Journal:
        return directory.create(self.folder / name, self.plan(), trusted=True)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, make_programs(tmp_path, monkeypatch, MENU), monkeypatch)


@pytest.fixture
def journal(machine: Machine) -> Iterator[Journal]:
    with machine.begin("c") as made:
        yield made


def go_on(machine: Machine, journal: Journal) -> tuple[Reboots, list[str]]:
    """What a session begins with, and what it says."""
    conductor = Reboots(machine.plan(), journal.directory, [])
    return conductor, list(conductor.judge_boot(journal))


def ask_for(machine: Machine, journal: Journal, release: str = NEW) -> list[str]:
    """A session that needs another kernel in the end."""
    conductor, told = go_on(machine, journal)
    conductor.prepare_boot(journal, release)
    return told


def list_void(journal: Journal) -> list[str]:
    return [row.reason for row in journal.rows() if not row.valid]


def test_a_kernel_that_fails_twice_in_a_row_is_given_up(machine, journal):
    ask_for(machine, journal)
    machine.boot(OLD)
    assert ask_for(machine, journal) == [f"the kernel {NEW} was to be booted, and {OLD} was"]
    assert list_void(journal) == []
    machine.boot(OLD)
    reason = f"the kernel {NEW} did not boot 2 times in a row: this machine came back with {OLD}"
    assert go_on(machine, journal)[1][-1] == f"its samples are void: {reason}"
    assert list_void(journal) == [reason] * 3


def test_a_boot_that_was_asked_for_twice_fails_once(machine, journal):
    ask_for(machine, journal)
    remove_left()
    ask_for(machine, journal)
    machine.boot(OLD)
    ask_for(machine, journal)
    assert list_void(journal) == []


def test_a_boot_after_the_campaign_was_given_up_is_not_a_failed_one(machine, journal):
    for _ in range(3):
        ask_for(machine, journal)
        remove_left()
        machine.boot(OLD)
        assert go_on(machine, journal)[1] == []
    assert list_void(journal) == []


def test_failures_of_long_ago_are_not_counted(machine, journal):
    told = []
    for number in range(40):
        told += ask_for(machine, journal, (NEW, OLD)[number % 2])
        machine.boot(OLD if number in (4, 34) else (NEW, OLD)[number % 2])
    assert told == [f"the kernel {NEW} was to be booted, and {OLD} was"] * 2
    assert list_void(journal) == []


def test_failures_of_one_kernel_are_in_a_row_across_good_boots_of_another(machine, journal):
    for release, came in ((NEW, OLD), (OLD, OLD), (NEW, OLD)):
        ask_for(machine, journal, release)
        machine.boot(came)
    go_on(machine, journal)
    assert len(list_void(journal)) == 3


def test_a_choice_that_the_boot_did_not_forget_ends_the_campaign(machine, journal):
    ask_for(machine, journal)
    machine.boot(NEW, forgets=False)
    with (
        pytest.raises(MissingError, match=f"GRUB did not forget the choice of {NEW} as it booted"),
        put_back_on_failure(journal.directory),
    ):
        go_on(machine, journal)
    assert not machine.programs.has_unit
    assert machine.programs.choice == ""


def test_the_second_of_two_campaigns_is_refused_and_takes_nothing_from_the_first(machine, journal):
    with machine.begin("second") as other:
        first, second = go_on(machine, journal)[0], go_on(machine, other)[0]
        first.prepare_boot(journal, NEW)
        choice = machine.programs.choice
        with (
            pytest.raises(UsageError, match=f"another campaign goes on after each boot, in {journal.directory}:"),
            put_back_on_failure(other.directory),
        ):
            second.prepare_boot(other, OLD)
        second.prepare_boot(other, "")
        assert other.fact("boots", []) == []
    assert unit.find_installed() == unit.InstalledUnit(journal.directory)
    assert machine.programs.choice == choice != ""


def test_a_choice_of_the_users_is_left_alone_by_a_campaign_that_needs_no_boot(machine, journal):
    (machine.programs.grub / "grubenv").write_text("next_entry=mine\n")
    go_on(machine, journal)[0].prepare_boot(journal, "")
    assert machine.programs.choice == "next_entry=mine\n"


def test_where_grub_cannot_choose_for_one_boot_no_campaign_begins(machine, journal):
    machine.programs.tell(abstraction="lvm\n")
    with pytest.raises(MissingError, match="GRUB cannot choose a kernel for one boot alone here"):
        go_on(machine, journal)
    assert not machine.programs.has_unit


def test_the_unit_waits_for_the_longest_sample(machine, journal):
    plan = machine.plan()
    ask_for(machine, journal)
    (line,) = [each for each in (machine.programs.units / unit.NAME).read_text().splitlines() if "TimeoutStop" in each]
    assert int(line.removeprefix("TimeoutStopSec=")) >= find_stop_limit_s(plan) > plan.works[0].definition.timeout_s


def test_samples_that_are_there_stay(machine, journal):
    plan = machine.plan()
    cell = next(cell for cell in plan.cells if plan.boots[cell.arm] == f"host:{NEW}")
    journal.add(cell, plan.arms[cell.arm].label, "hackbench", "", ValidSample({"time_s": 1.0}, {"object": ""}))
    for _ in range(2):
        ask_for(machine, journal)
        machine.boot(OLD)
    go_on(machine, journal)
    assert len(list_void(journal)) == 2
