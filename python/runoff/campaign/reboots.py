"""A campaign over several boots: what is written before each, and what is found after it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from runoff.campaign.journal import Journal
from runoff.campaign.records import Boot
from runoff.campaign.run import list_cells
from runoff.engines import boots
from runoff.engines.outcome import VoidSample
from runoff.errors import MissingError, UsageError
from runoff.plan.order import Cell
from runoff.plan.plan import Plan
from runoff.reboot import unit
from runoff.reboot.bootloader import Bootloader, find_bootloader

TRIES = 2
"""Boots of a kernel that may fail before its samples are void."""

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_IN_MEMORY = ("tmpfs", "ramfs", "overlay")
"""File systems whose content ends with a boot."""


class Reboots:
    """Takes this machine from one kernel of a plan to the next."""

    def __init__(self, plan: Plan, directory: Path, arguments: Sequence[str]) -> None:
        """``arguments`` are for ``runoff resume``. Raises UsageError or MissingError if that cannot be done here."""
        if not plan.boots:
            raise UsageError("--reboot: no arm names a kernel of this machine: name them, as in default@host:6.12")
        if os.geteuid() != 0:
            raise MissingError("--reboot needs root: run it with sudo")
        unit.require_systemd()
        self._plan = plan
        self._arguments = arguments
        self._directory = directory.resolve()
        _require_lasting(self._directory)
        self._bootloader: Bootloader = find_bootloader()
        self._bootloader.require_one_boot()
        self._entries = {
            release: self._bootloader.find_entry(release)
            for release in dict.fromkeys(boots.find_planned(plan, name) for name in plan.boots)
        }
        unit.refuse_other(self._directory)

    def prepare_boot(self, journal: Journal, release: str) -> None:
        """Choose the kernel of this ``release`` for the next boot, and let systemd go on after it.

        Without a release the campaign has ended, and systemd and the bootloader are put back; unless the machine is
        being shut down, so that it goes on after the next boot. Raises RunoffError.
        """
        if not release:
            if not unit.is_shutting_down():
                self._end()
            return
        made = [*_read_boots(journal), Boot(kernel=release, from_boot=_read_boot_id())]
        journal.set_fact("boots", [boot.model_dump() for boot in made])
        unit.install(self._directory, self._arguments)
        self._bootloader.choose_once(self._entries[release])

    def judge_boot(self, journal: Journal) -> Iterator[str]:
        """Note which kernel the last boot has brought, and void the samples of one that does not boot.

        Yields a sentence for each kernel that did not.
        """
        made = _read_boots(journal)
        if not made or made[-1].came or made[-1].from_boot == _read_boot_id():
            return
        came = boots.read_running()
        made[-1] = made[-1].model_copy(update={"came": came})
        journal.set_fact("boots", [boot.model_dump() for boot in made])
        wanted = made[-1].kernel
        if came == wanted:
            return
        failed = sum(boot.kernel == wanted and boot.came != wanted for boot in made)
        yield f"the kernel {wanted} was to be booted, and {came} was"
        if failed >= TRIES:
            reason = f"the kernel {wanted} did not boot: this machine came back with {came}, {failed} times"
            self._void(journal, wanted, reason)
            yield f"its samples are void: {reason}"

    def _void(self, journal: Journal, release: str, reason: str) -> None:
        """Write a void sample for each cell of this kernel that has none yet."""
        done = journal.done()
        for cell in list_cells(self._plan):
            if cell.id not in done and boots.find_planned(self._plan, self._plan.boots[cell.arm]) == release:
                self._add_void(journal, cell, reason)

    def _add_void(self, journal: Journal, cell: Cell, reason: str) -> None:
        plan = self._plan
        arm, work, load = plan.arms[cell.arm].label, plan.works[cell.work].label, plan.load_labels[cell.load]
        journal.add(cell, arm, work, load, VoidSample(reason))

    def _end(self) -> None:
        unit.remove()
        self._bootloader.forget_choice()


@contextmanager
def put_back_on_failure(directory: Path) -> Iterator[None]:
    """Put systemd and the bootloader back if the block fails: the campaign must not fail again at every boot."""
    try:
        yield
    except Exception:
        if unit.find_directory() == directory.resolve():
            remove_left()
        raise


def remove_left() -> str:
    """Remove what a campaign over several boots has left; return a sentence, or nothing. Raises RunoffError."""
    directory = unit.find_directory()
    if directory is None:
        return ""
    unit.remove()
    find_bootloader().forget_choice()
    return f"the campaign in {directory} does not go on after the next boot any more"


def _read_boots(journal: Journal) -> list[Boot]:
    found: list[Boot] = journal.fact("boots", [])
    return list(found)


def _read_boot_id() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _require_lasting(directory: Path) -> None:
    """Raise UsageError if a boot would end what is written there."""
    mounts = {Path(each.mountpoint): each.fstype for each in psutil.disk_partitions(all=True)}
    place = next(parent for parent in (directory, *directory.parents) if parent in mounts)
    if mounts[place] in _IN_MEMORY:
        raise UsageError(f"{directory} is in memory and ends with the boot: choose another --out")
