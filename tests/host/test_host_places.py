"""Which disks a place is on: partitions, volumes, file systems on several."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from disk_fixtures import call, disk_of, disk_with_bfq, engine, plan, seen, settings, workload
from modules import insert

from runoff.engines import disks
from runoff.engines.agent import check_request, find_agent
from runoff.engines.outcome import ValidSample

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]


def elevators_below(place: Path) -> dict[str, str]:
    """The elevators of the disks below ``place``, as the agent finds them."""
    request = check_request({"kind": "default"}, scratch=str(place), disk=disks.describe_borrowed_disk(None))
    agent = subprocess.run([find_agent(), "session"], input=json.dumps(request), capture_output=True, text=True)
    event: dict[str, Any] = json.loads(agent.stdout.splitlines()[1])
    assert event["type"] == "checked", event
    return {disk["name"]: disk["elevator"] for disk in event["disks"]}


def test_volumes_and_partitions_lead_to_their_disks(tmp_path: Path) -> None:
    insert("dm_mod")
    with disk_with_bfq(tmp_path) as (disk, place):
        inside = place / "a" / "b"
        inside.mkdir(parents=True)
        assert elevators_below(inside) == {disk: "bfq"}
        call("umount", place)
        call("dmsetup", "--noudevsync", "create", "volume", "--table", f"0 100000 linear /dev/{disk}p1 0")
        try:
            (volume,) = Path("/sys/block").glob("dm-*")
            call("mkfs.ext4", "-q", f"/dev/{volume.name}")
            call("mount", f"/dev/{volume.name}", place)
            assert elevators_below(place) == {disk: "bfq"}
            call("umount", place)
        finally:
            call("dmsetup", "--noudevsync", "remove", "volume")


def test_a_file_system_or_volume_on_two_disks_leads_to_both(tmp_path: Path) -> None:
    insert("dm_mod", "btrfs")
    place = tmp_path / "mounted"
    place.mkdir()
    with disk_of(256) as one, disk_of(256) as two:
        devices = (f"/dev/{one}", f"/dev/{two}")
        both = {one: "bfq", two: "bfq"}
        before = [settings(disk) for disk in both]
        call("mkfs.btrfs", "--quiet", "--data", "raid0", *devices)
        call("btrfs", "device", "scan", *devices)
        call("mount", devices[1], place)
        try:
            call("btrfs", "subvolume", "create", place / "sub")
            assert elevators_below(place / "sub") == both
            work = workload(tmp_path, one, then=f"cat /sys/block/{two}/queue/scheduler >> {tmp_path / 'seen'}")
            made = plan("default+io=mq-deadline", work=work, place=str(place / "sub"))
            with engine(tmp_path, made) as own:
                assert isinstance(own.take(made.cells[0], lambda _phase: None), ValidSample)
            assert all("[mq-deadline]" in line for line in seen(tmp_path))
            assert len(seen(tmp_path)) == 2
        finally:
            call("umount", place)
        assert [settings(disk) for disk in both] == before

        table = f"0 400000 striped 2 8 {devices[0]} 0 {devices[1]} 0"
        call("dmsetup", "--noudevsync", "create", "striped", "--table", table)
        try:
            (volume,) = Path("/sys/block").glob("dm-*")
            call("mkfs.ext4", "-q", f"/dev/{volume.name}")
            call("mount", f"/dev/{volume.name}", place)
            assert elevators_below(place) == both
            call("umount", place)
        finally:
            call("dmsetup", "--noudevsync", "remove", "striped")
