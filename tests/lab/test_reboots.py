"""A campaign over several boots of a real machine: systemd, GRUB, two kernels, one that panics, a cut of the power."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import reboot_machine
import tomli_w
from campaign_rows import rows
from journals import read_fact

from runoff.campaign.conduct import check
from runoff.campaign.directory import read_results
from runoff.plan.settings import parse_settings

pytestmark = [pytest.mark.lab, pytest.mark.timeout(7200)]

BLOCKS = 3

PLAN = """
on = "host"
arms = [{arms}]
workloads = ["counters:n=2,count=20000,passes=1"]
blocks = {blocks}
seed = 1
"""

HOUR_S = 3600.0

Finished = tuple[Path, list[str], str, str]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The campaign of a machine that has switched itself off; its kernels; GRUB's environment; what it said."""
    folder = tmp_path_factory.mktemp("machine")
    disk = folder / "disk"
    releases = reboot_machine.build(disk, "")
    arms = ", ".join(json.dumps(f"default@host:{release}") for release in [*releases, reboot_machine.BROKEN])
    with reboot_machine.mount(disk) as root:
        (root / "plan.toml").write_text(PLAN.format(arms=arms, blocks=BLOCKS))
    machine = reboot_machine.Machine(disk, folder / "first.txt")
    machine.wait_for("block 2/3", HOUR_S)
    machine.cut_power()
    machine = reboot_machine.Machine(disk, folder / "second.txt")
    machine.wait_until_off(HOUR_S)
    with reboot_machine.mount(disk) as root:
        shutil.copytree(root / "campaign", folder / "campaign")
        environment = subprocess.run(
            ["chroot", root, "grub-editenv", "/boot/grub/grubenv", "list"], capture_output=True, text=True, check=True
        ).stdout
        left = list_units(root)
    assert not left
    return folder / "campaign", releases, environment, (folder / "first.txt").read_text(errors="replace")


def list_units(root: Path) -> list[str]:
    """Directories of systemd that have a unit of runoff, or a link to one, wherever that leads on this machine."""
    places = os.walk(root / "etc/systemd/system")
    return sorted(Path(place).name for place, _, names in places if any(name.startswith("runoff-") for name in names))


def begin_with(release: str, arms: list[str]) -> str:
    """A plan that begins with this kernel, and has many samples of it before it needs another."""
    works = [f"counters:n=2,count={count},passes=1" for count in range(2000000, 2000100)]
    for seed in range(1, 50):
        values = {"on": "host", "arms": arms, "workloads": works, "blocks": 2, "seed": seed}
        plan = check(parse_settings(values, "test"))
        if plan.boots[plan.cells[0].arm] == f"host:{release}":
            return tomli_w.dumps(values)
    raise AssertionError("no seed begins with it")


@dataclass(frozen=True)
class Ended:
    """What reboot_checks.py found in the machine, and what its shutdown left on the disk."""

    found: dict[str, Any]
    units: list[str]
    campaign: Path


@pytest.fixture(scope="module")
def ended(finished: Finished) -> Ended:
    releases = finished[1]
    disk = finished[0].with_name("disk")
    with reboot_machine.mount(disk) as root:
        (root / "many.toml").write_text(begin_with(releases[0], [f"default@host:{release}" for release in releases]))
        (root / "checks").mkdir()
        for name in ("reboot_checks.py", "reboot_disks.py"):
            shutil.copy(Path(__file__).with_name(name), root / "checks" / name)
        reboot_machine.add_service(root, "checks.service", reboot_machine.CHECKS.format(kernel=releases[1]))
    reboot_machine.Machine(disk, disk.with_name("checks.txt")).wait_until_off(HOUR_S)
    with reboot_machine.mount(disk) as root:
        shutil.copytree(root / "stopped", disk.with_name("stopped"))
        return Ended(json.loads((root / "found.json").read_text()), list_units(root), disk.with_name("stopped"))


def test_a_campaign_that_is_ended_in_any_way_does_not_go_on_after_the_next_boot(ended: Ended) -> None:
    assert ended.found["left"] == {"restore": [], "stop": [], "fail": [], "refuse_reboot": []}


def test_a_campaign_goes_on_after_a_shutdown_by_someone_else(ended: Ended) -> None:
    assert ended.units == ["multi-user.target.wants", "system"]


def test_what_stops_the_unit_or_the_machine_lets_the_sample_finish(ended: Ended) -> None:
    taken = rows(ended.campaign)
    assert len(taken) >= 3
    assert [row["reason"] for row in taken if not row["valid"]] == []


def test_a_second_campaign_does_not_take_the_place_of_the_first(ended: Ended) -> None:
    assert "another campaign goes on after each boot, in /stopped:" in ended.found["second"]


def test_where_grub_cannot_write_no_kernel_is_chosen(ended: Ended) -> None:
    refusals = ended.found["disks"]
    assert refusals.pop("ext4") == ""
    for kind, on in {"btrfs": "btrfs", "lvm": "lvm", "raid": "diskfilter"}.items():
        assert refusals.pop(kind).startswith(
            "69 GRUB cannot choose a kernel for one boot alone here (it cannot write to "
            f"/disks/{kind}/grub/grubenv, which is on {on})"
        )
    told = refusals.pop("lvm, chosen")
    assert "grub-reboot says: WARNING: Detected GRUB environment block on lvm device" in told
    assert told.endswith("runoff resume DIRECTORY")
    assert not refusals


def test_all_is_taken_but_what_the_broken_kernel_would_have(finished: Finished) -> None:
    campaign, releases, _, _ = finished
    taken = rows(campaign)
    assert len(taken) == 3 * BLOCKS
    void = {row["arm"]: row["reason"] for row in taken if not row["valid"]}
    assert list(void) == [f"default@host:{reboot_machine.BROKEN}"]
    reason = (
        f"the kernel {reboot_machine.BROKEN} did not boot 2 times in a row: this machine came back with {releases[0]}"
    )
    assert set(void.values()) == {reason}
    results = read_results(campaign)
    assert set(results.fingerprint["kernels"]) == {f"host:{release}" for release in releases}


def test_each_boot_is_noted_and_none_is_in_vain(finished: Finished) -> None:
    """But for one, if the power was cut between its note and its boot."""
    campaign, releases, _, _ = finished
    boots = read_fact(campaign, "boots")
    assert [boot["kernel"] for boot in boots].count(reboot_machine.BROKEN) == 2
    in_vain = [boot for boot in boots if boot["kernel"] in releases and boot["came"] != boot["kernel"]]
    assert len(in_vain) <= 1, boots
    assert len({boot["from_boot"] for boot in boots}) == len(boots)


def test_the_bootloader_is_as_before(finished: Finished) -> None:
    assert "next_entry" not in finished[2]
