"""Campaigns of wild work are interrupted at random: no finished sample is lost, and nothing is left of anything."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import forked
import pytest
from soak import disk, traces
from soak.campaign import Broken
from soak.host import HostCampaign
from soak.lab import LabCampaign
from soak.planted import KINDS, planted
from soak.running import HOST, HOST_WITH_SERVERS, LAB
from soak.traces import Machine

from runoff.engines import ublk
from runoff.engines.lab import kernel
from runoff.engines.lab.emulator import store

INTERRUPTIONS = int(os.environ.get("SOAK_INTERRUPTIONS") or 100)
SEED = int(os.environ.get("SOAK_SEED") or 1)

pytestmark = [
    pytest.mark.host,
    pytest.mark.timeout(60 * INTERRUPTIONS),
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]

IN_LAB = 0.2
"""Share of campaigns in the lab, which take longer than those on the host."""


@contextmanager
def prepared(folder: Path) -> Iterator[Machine]:
    """With something precious, and a disk if there can be one."""
    precious = folder / "precious"
    precious.mkdir()
    for name in ("one", "two"):
        (precious / name).mkdir()
        (precious / name / "file").write_text(name * 100)
    with ExitStack() as stack:
        made = None
        try:
            made = stack.enter_context(disk.loop(folder))
        except disk.NoDisk as missing:
            print(f"no elevators are switched: {missing}")
        # What a failure is about would otherwise keep the disk, and stay.
        stack.callback(traces.end, folder)
        yield Machine(folder, made)


def undisturbed(folder: Path, machine: Machine) -> LabCampaign | None:
    """A campaign in the lab that is not interrupted; None without a lab."""
    if store.find_current() is None or not any(stored.sched_ext for stored in kernel.list_stored()):
        print("no campaigns in the lab: it has no kernel, or no QEMU of runoff's")
        return None
    campaign = LabCampaign(folder, "undisturbed", None, machine)
    campaign.finish()
    campaign.restore()
    return campaign


def soaked(folder: Path, seed: int, machine: Machine, reference: LabCampaign | None) -> int:
    """One campaign; how many interruptions it has had."""
    draw = Random(seed)
    kind = HOST_WITH_SERVERS if ublk.CONTROL.exists() else HOST
    campaign: HostCampaign | LabCampaign
    if reference is not None and draw.random() < IN_LAB:
        campaign, kind = LabCampaign(folder, str(seed), reference, machine), LAB
    else:
        campaign = HostCampaign(folder, seed, draw, machine)
    count = 0
    for _ in range(draw.choice((1, 1, 2, 3))):
        count += campaign.interrupt(draw, kind)
        if draw.random() < 0.3:
            campaign.restore()
        if campaign.is_complete:
            break
    campaign.finish()
    campaign.restore()
    return count


def test_no_interruption_loses_a_sample_or_leaves_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(forked.WANTED, "1")
    print(f"seed {SEED}, {INTERRUPTIONS} interruptions")
    began_s, done, seed = time.monotonic(), 0, SEED
    with prepared(tmp_path) as machine:
        reference = undisturbed(tmp_path, machine)
        while done < INTERRUPTIONS:
            try:
                done += soaked(tmp_path, seed, machine, reference)
            except Broken as broken:
                raise Broken(f"{broken}\nagain by: make soak SOAK_SEED={seed} SOAK_INTERRUPTIONS=1") from None
            seed += 1
            print(f"\r{done} of {INTERRUPTIONS}, {time.monotonic() - began_s:.0f} s", end="", flush=True)
    print(f"{done} interruptions of {seed - SEED} campaigns in {time.monotonic() - began_s:.0f} s")


@pytest.mark.parametrize("kind", KINDS)
def test_the_soak_sees_leftovers(tmp_path: Path, kind: str) -> None:
    with prepared(tmp_path) as machine:
        if kind in ("place", "elevator") and machine.disk is None:
            pytest.skip("no disk")
        assert machine.left() == []
        with planted(kind, tmp_path, machine) as sign:
            (found,) = machine.left()
            assert sign in found
        assert machine.left() == []
