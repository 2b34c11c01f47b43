"""Arms with ``+io=`` on a running machine, on disks that are made for each sample and go again."""

import os
import signal
from pathlib import Path

import pytest
from campaign_rows import remains
from disk_fixtures import begun, engine, plan, seen, workload
from modules import insert
from processes import children

from runoff.engines import ublk
from runoff.engines.outcome import ValidSample
from runoff.errors import MissingError

pytestmark = [pytest.mark.host, pytest.mark.sched_ext]


def test_a_disk_is_made_for_each_sample_and_goes_again(tmp_path: Path) -> None:
    insert("ublk_drv", "bfq")
    arms = ("default+io=anticipatory:antic_expire_ms=8", "default+io=bfq:slice_idle_us=0", "default")
    made = plan(*arms, work=workload(tmp_path, "ublkb*"), disk_mb=64, disk_model="scsi10k")
    with engine(tmp_path, made) as own:
        for cell in made.cells:
            arm = arms[cell.arm]
            if arm == "default":
                # It has its usual place.
                assert isinstance(own.take(cell, lambda _phase: None), ValidSample)
                assert " /tmp/runoff-" in seen(tmp_path)[-1]
                continue
            outcome = own.take(cell, lambda _phase: None)
            assert isinstance(outcome, ValidSample), outcome
            line = seen(tmp_path)[-1]
            assert ("[bfq]" in line) == ("bfq" in arm)
            assert ("slice_idle_us:0 " in line) == ("bfq" in arm)
            assert 2048 <= outcome.metrics["disk_written_kb"] < 8192
            assert outcome.metrics["disk_write_p99_ms"] > 1
            assert ublk.list_disks() == []
            assert list(Path("/run").glob("runoff-[0-9]*")) == []

    made = plan(arms[0], work=workload(tmp_path, "ublkb*", then="sleep 500"), disk_mb=64)
    with engine(tmp_path, made) as own:
        sample = begun(tmp_path, own, made)
        # Nobody else on the machine sees what is mounted for the sample.
        assert "/run/runoff" not in Path("/proc/self/mounts").read_text()
        assert [disk["users"]["mounted_on"] != [] for disk in ublk.list_disks()] == [True]
        os.kill(children(os.getpid())[0], signal.SIGKILL)
        assert "the agent was lost" in sample.reason()
        assert ublk.list_disks() == []
        assert list(Path("/run").glob("runoff-[0-9]*")) == []
        assert remains() == []
    assert not (tmp_path / "disk.blocks").exists()


def test_a_disk_larger_than_the_memory_is_refused(tmp_path: Path) -> None:
    insert("ublk_drv")
    made = plan("default+io=noop", work=workload(tmp_path, "ublkb*"), disk_mb=30_000)
    with pytest.raises(MissingError, match="has its 30000 MiB in memory"), engine(tmp_path, made):
        pass
