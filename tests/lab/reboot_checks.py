"""Runs as a service of the machine of reboot_machine.py: who ends a campaign that goes on after each boot, and what is
left of it then. The last is a shutdown, during which the campaign's unit has to stay. found.json has what was found."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import reboot_disks

from runoff.campaign.conduct import CampaignResult
from runoff.campaign.directory import read_results
from runoff.campaign.loop.execution import Ending, Execution
from runoff.cli.campaign import finish
from runoff.cli.options import RunOptions
from runoff.errors import RunoffError
from runoff.files import Identity
from runoff.reboot import unit
from runoff.reboot.bootloader import find_bootloader

CAMPAIGN = Path("/stopped")
GRUB = Path("/boot/grub")
STOP_LIMIT_S = 3600.0
RUNOFF = [sys.executable, "-m", "runoff"]
WORDS = ["--reboot"]


def main(plan: str, other_kernel: str) -> None:
    begin(plan)
    left: dict[str, list[str]] = {}
    for end in (restore, stop, fail, refuse_reboot):
        prepare_boot(other_kernel)
        assert look() == ["unit", "choice"]
        end()
        left[end.__name__] = look()
    prepare_boot(other_kernel)
    found = {"left": left, "second": install_second(), "disks": reboot_disks.list_refusals()}
    Path("/found.json").write_text(json.dumps(found))
    prepare_boot(other_kernel)
    start_and_wait()
    subprocess.run(["systemctl", "poweroff"], check=True)


def begin(plan: str) -> None:
    """Begin a campaign of many blocks and end it by Ctrl-C after its first sample."""
    assert not CAMPAIGN.exists(), "the machine has booted once more"
    campaign = subprocess.Popen([*RUNOFF, "run", plan, "--out", CAMPAIGN, *WORDS])
    wait_until(lambda: count_samples() > 0)
    campaign.send_signal(signal.SIGINT)
    campaign.wait()


def prepare_boot(kernel: str) -> None:
    """Do what runoff does before a boot."""
    bootloader = find_bootloader()
    entry = bootloader.find_entry(kernel)
    unit.install(CAMPAIGN, WORDS, STOP_LIMIT_S)
    bootloader.choose_once(entry)


def start_and_wait() -> None:
    """Let systemd go on with the campaign until it has taken one sample more."""
    before = count_samples()
    subprocess.run(["systemctl", "start", "--no-block", unit.NAME], check=True)
    wait_until(lambda: count_samples() > before)


def restore() -> None:
    subprocess.run([*RUNOFF, "restore"], check=True)


def stop() -> None:
    start_and_wait()
    subprocess.run(["systemctl", "stop", unit.NAME], check=True)


def fail() -> None:
    """Let GRUB's menu have no entry of the plan's kernels."""
    menu = GRUB / "grub.cfg"
    whole = menu.read_text()
    menu.write_text("")
    subprocess.run(["systemctl", "start", unit.NAME], check=False)
    wait_until(lambda: read_state() in ("failed", "inactive"))
    menu.write_text(whole)


def refuse_reboot() -> None:
    """Let systemd refuse to boot when the next samples need another kernel."""
    subprocess.run(["systemctl", "mask", "--runtime", "reboot.target"], check=True)
    other = CampaignResult(
        CAMPAIGN, Ending.OTHER_KERNEL, read_results(CAMPAIGN), Identity.from_stat(CAMPAIGN.stat()), "another"
    )
    try:
        finish(other, RunOptions(CAMPAIGN, as_json=False, execution=Execution(reboot=()), notify=None, verbose=False))
        raise AssertionError("it was not refused")
    except RunoffError as error:
        print(error.describe(), flush=True)
    subprocess.run(["systemctl", "unmask", "--runtime", "reboot.target"], check=True)


def install_second() -> str:
    """Return why a second campaign cannot go on after each boot while the first one does."""
    try:
        unit.install(Path("/second"), WORDS, STOP_LIMIT_S)
    except RunoffError as error:
        return error.describe()
    return ""


def read_state() -> str:
    done = subprocess.run(["systemctl", "is-active", unit.NAME], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def look() -> list[str]:
    """Return what would go on after the next boot."""
    listed = subprocess.run(["grub-editenv", GRUB / "grubenv", "list"], capture_output=True, text=True, check=True)
    found = ["unit"] if any(unit.PLACE.rglob(unit.NAME)) else []
    return [*found, *(["choice"] if "next_entry=" in listed.stdout else [])]


def count_samples() -> int:
    if not (CAMPAIGN / "journal.sqlite").exists():
        return 0
    with closing(sqlite3.connect(f"file:{CAMPAIGN / 'journal.sqlite'}?mode=ro", uri=True)) as journal:
        try:
            return int(journal.execute("SELECT count(*) FROM entries WHERE kind = 'sample'").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(1)


if __name__ == "__main__":
    os.chdir("/")
    main(*sys.argv[1:])
