"""A campaign over several boots: what is written before each, and what is found after it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from runoff.campaign.journal.journal import Journal
from runoff.campaign.journal.records import Boot
from runoff.campaign.loop.stop import interrupt_on_signals
from runoff.campaign.loop.voids import add_void
from runoff.engines import boots
from runoff.engines.agent import StaysError
from runoff.engines.limits import CHECK_LIMIT_S, silence_limit_s
from runoff.errors import MissingError, RunoffError, UsageError, choose_error
from runoff.installed import name_command_for_root
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
            raise MissingError(f"--reboot needs root: {name_command_for_root()} ...")
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
                _remove_own(self._directory)
            return
        unit.install(self._directory, self._arguments, find_stop_limit_s(self._plan))
        self._bootloader.choose_once(self._entries[release])
        # The note comes last: a boot that power was cut before is not one of this kernel that has failed.
        _write_boots(journal, [*_read_tried(journal), Boot(kernel=release, from_boot=_read_boot_id())])

    def judge_boot(self, journal: Journal) -> Iterator[str]:
        """Note which kernel the last boot has brought, and void the samples of one that does not boot.

        Yields a sentence for each kernel that did not. Raises MissingError if it is booted again and again.
        """
        made = _read_boots(journal)
        if not made or made[-1].came:
            return
        if unit.refuse_other(self._directory) is None:
            # The choice was taken back with the unit, so that no boot was for this campaign.
            _write_boots(journal, _read_tried(journal))
            return
        if made[-1].from_boot == _read_boot_id():
            return
        wanted = made[-1].kernel
        self._require_forgotten(wanted)
        came = boots.read_running()
        made = [*_read_tried(journal), made[-1].model_copy(update={"came": came})]
        _write_boots(journal, made)
        if came == wanted:
            return
        failed = find_failed_in_row(made, wanted)
        yield f"the kernel {wanted} was to be booted, and {came} was"
        if len(failed) >= TRIES:
            others = " and ".join(dict.fromkeys(boot.came for boot in failed))
            times = f"{len(failed)} times in a row"
            reason = f"the kernel {wanted} did not boot {times}: this machine came back with {others}"
            self._void(journal, wanted, reason)
            yield f"its samples are void: {reason}"

    def _require_forgotten(self, release: str) -> None:
        """Raise MissingError if the entry of this kernel is still chosen after the boot that it was chosen for."""
        loader = self._bootloader
        if release in self._entries and loader.read_choice() == self._entries[release]:
            raise MissingError(
                f"{loader.name} did not forget the choice of {release} as it booted, so that a kernel that does not "
                "boot would be booted for ever: boot each kernel by hand, then go on",
                hint=("resume", self._directory),
            )

    def _void(self, journal: Journal, release: str, reason: str) -> None:
        """Write a void sample for each cell of this kernel that has none yet."""
        done = journal.done()
        for cell in self._plan.cells:
            if cell.id not in done and boots.find_planned(self._plan, self._plan.boots[cell.arm]) == release:
                add_void(self._plan, journal, cell, reason)


def find_stop_limit_s(plan: Plan) -> float:
    """Return how long a campaign that is to stop may need: its longest sample, and the start of an agent."""
    return max(silence_limit_s(work, load) for work in plan.works for load in plan.loads) + CHECK_LIMIT_S


def find_failed_in_row(made: Sequence[Boot], release: str) -> list[Boot]:
    """Return the last boots of this kernel that all brought another one, oldest first; each boot counts once."""
    failed: dict[str, Boot] = {}
    for boot in reversed([boot for boot in made if boot.kernel == release and boot.came]):
        if boot.came == release:
            break
        failed[boot.from_boot] = boot
    return list(reversed(failed.values()))


@contextmanager
def put_back_on_failure(directory: Path) -> Iterator[None]:
    """Put systemd and the bootloader back if the block fails: the campaign must not fail again at every boot.

    What stops it outside of samples is a failure too, but for a shutdown, after which it goes on.
    """
    try:
        with interrupt_on_signals():
            yield
    except BaseException as error:
        if not unit.is_shutting_down():
            try:
                _remove_own(directory.resolve())
            except RunoffError as stays:
                code = error.exit_code if isinstance(error, RunoffError) else stays.exit_code
                raise choose_error(code)(f"{error or 'stopped'}; {stays}") from error
        raise


def remove_left() -> str:
    """Remove what a campaign over several boots has left; return a sentence, or nothing. Raises RunoffError."""
    found = unit.find_installed()
    if found is None:
        return ""
    unit.stop()
    unit.remove()
    where = f"the campaign in {found.directory}" if found.directory is not None else f"the campaign of {unit.NAME}"
    done = f"{where} does not go on after the next boot any more"
    try:
        _forget_choice()
    except RunoffError as error:
        raise StaysError(str(error), done) from None
    return done


def _remove_own(directory: Path) -> None:
    """Remove the unit of the campaign in ``directory``, and what the bootloader was told with it."""
    found = unit.find_installed()
    if found is not None and found.directory == directory:
        unit.remove()
        _forget_choice()


def _forget_choice() -> None:
    """Raises RunoffError if the bootloader is there and does not forget."""
    try:
        bootloader = find_bootloader()
    except MissingError:
        # None has been told anything.
        return
    bootloader.forget_choice()


def _read_boots(journal: Journal) -> list[Boot]:
    found: list[Boot] = journal.fact("boots", [])
    return list(found)


def _read_tried(journal: Journal) -> list[Boot]:
    """Return the boots that came, without those that were asked for and given up."""
    return [boot for boot in _read_boots(journal) if boot.came]


def _write_boots(journal: Journal, made: Sequence[Boot]) -> None:
    journal.set_fact("boots", [boot.model_dump() for boot in made])


def _read_boot_id() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _require_lasting(directory: Path) -> None:
    """Raise UsageError if a boot would end what is written there."""
    mounts = {Path(each.mountpoint): each.fstype for each in psutil.disk_partitions(all=True)}
    place = next(parent for parent in (directory, *directory.parents) if parent in mounts)
    if mounts[place] in _IN_MEMORY:
        raise UsageError(f"{directory} is in memory and ends with the boot: choose another --out")
