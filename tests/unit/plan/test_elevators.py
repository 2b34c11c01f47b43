"""Arms with an elevator, models of disks, and what is refused; against the agent's own catalogue."""

import subprocess
from pathlib import Path

import pytest

from runoff.engines.agent import find_agent
from runoff.engines.lab import disks
from runoff.engines.questions import describe_elevators
from runoff.errors import UsageError
from runoff.plan.arms import parse_arm
from runoff.plan.catalogue import Catalogue
from runoff.plan.elevators import Elevator, check_model
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.rerun import render_command
from runoff.plan.settings import parse_settings


def elevator(text: str) -> Elevator:
    found = parse_arm(text, None, describe_elevators).elevator
    assert found is not None
    return found


def plan(**values: object) -> Plan:
    settings = {"arms": ["default", "default+io=cfq"], "workloads": ["counters:n=1"], **values}
    return make_plan(parse_settings(settings, "test"), Catalogue(elevators=describe_elevators))


def test_an_elevator_has_parameters_and_leaves_scheduler_and_kernel_alone() -> None:
    arm = parse_arm("bfs:rr_interval_ms=3+io=anticipatory:antic_expire_ms=6@debian:6.18", None, describe_elevators)
    assert arm.elevator is not None
    assert (arm.elevator.name, arm.elevator.parameters) == ("anticipatory", {"antic_expire_ms": "6"})
    assert arm.scheduler == {"kind": "builtin", "name": "bfs", "parameters": {"rr_interval_ms": "3"}}
    assert arm.kernel == "debian:6.18"
    assert parse_arm("default", None, describe_elevators).elevator is None


def test_of_a_program_it_is_a_word_of_its_own() -> None:
    arm = parse_arm(
        "exec:scx_bpfland -k +io=deadline:variant=mq,prio_aging_expire_ms=5 @debian", None, describe_elevators
    )
    assert arm.scheduler["argv"] == ["scx_bpfland", "-k"]
    assert (arm.elevator, arm.kernel) == (elevator("default+io=deadline:variant=mq,prio_aging_expire_ms=5"), "debian")


def test_the_kernels_own_have_parameters_too() -> None:
    found = elevator("default+io=bfq:slice_idle_us=0")
    assert (found.name, found.parameters, found.is_the_kernels) == ("bfq", {"slice_idle_us": "0"}, True)
    assert elevator("default+io=kyber:read_lat_nsec=1000000").parameters == {"read_lat_nsec": "1000000"}


def test_the_kernels_own_bring_their_modules() -> None:
    assert elevator("default+io=kyber").module == "kyber-iosched"
    assert elevator("default+io=none").module is elevator("default+io=noop").module is None
    made = plan(arms=["default+io=bfq", "default+io=cfq", "default+io=mq-deadline"])
    assert disks.list_modules(made) == ("ublk_drv", "bfq", "mq-deadline")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("default+io=", "an elevator must follow +io="),
        ("default+io=cfs", "unknown elevator 'cfs'; did you mean 'cfq'?"),
        ("default+io=anticipatory:antic_expire_ms=1001", "antic_expire_ms=1001 is out of its range 0..1000 ms"),
        ("default+io=noop:antic_expire_ms=6", "noop has no parameter 'antic_expire_ms'"),
        ("default+io=cfq:variant=2004", 'variant="2004" is none of 2003, sliced'),
        ("default+io=cfq:quirks=1", "quirks is for variant=2003 only, not for variant=sliced"),
        ("default+io=bfq:slice_idle=0", "bfq has no parameter 'slice_idle'; did you mean 'slice_idle_us'?"),
        ("default+io=mq-deadline:read_expire_ms=0", "read_expire_ms=0 is out of its range 1..60000 ms"),
        ("default+io=none:nr_requests=4", "none has no parameter 'nr_requests'; there are none"),
    ],
)
def test_wrong_elevators_are_named(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_arm(text, None, describe_elevators)
    assert sentence in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("ide2004", "unknown model 'ide2004'; did you mean 'ide2003'?"),
        ("ide2003:rpm=1", "rpm=1 is out of its range 1000..30000"),
        ("ide2003:rmp=7200", "ide2003 has no parameter 'rmp'"),
        ("scsi10k:sectors=2048000", "has 1000 MiB, not the 1024 MiB that are wanted"),
    ],
)
def test_wrong_models_are_named(model: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_model(model, 1024, describe_elevators)
    assert sentence in str(caught.value)


def test_an_elevator_wants_a_disk_with_room_for_its_own() -> None:
    made = plan(memory_mb=512)
    assert made.disk_mb == 2048
    assert disks.room_mb(made) > 2048
    assert plan(arms=["default"]).disk_mb == 0


def test_on_the_host_disks_are_made_unless_there_is_a_place() -> None:
    made = plan(on="host", disk_mb=256)
    assert (made.makes_disks, made.disk_mb) == (True, 256)
    assert plan(on="host", memory_mb=256).disk_mb == plan(on="host").disk_mb == 1024
    arms = ["default", "default+io=none", "default+io=bfq:slice_idle_us=0"]
    placed = plan(on="host", place="/mnt", arms=arms)
    assert (placed.has_elevators, placed.makes_disks, placed.disk_mb) == (True, False, 0)
    assert "--place /mnt" in render_command(placed.settings)
    assert plan(on="host", place="/mnt", arms=["default"]).settings.place == "/mnt"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"on": "lab"}, "--place needs --on host: it is a directory of this machine"),
        ({"arms": ["default+io=cfq"]}, "cfq can only have a disk that runoff makes: leave --place out"),
        ({"place": "mnt"}, "place 'mnt': give the whole path"),
        ({"disk_mb": 100}, "--disk is the size of disks that runoff makes"),
        ({"disk_model": "scsi10k"}, "--disk-model is of disks that runoff makes"),
        ({"probes": ["requests"]}, "is for disks that runoff makes"),
    ],
)
def test_what_does_not_fit_a_place_is_refused(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan(**{"on": "host", "place": "/mnt", "arms": ["default", "default+io=bfq"], **values})
    assert sentence in str(caught.value)


def test_the_model_is_part_of_the_plan() -> None:
    made = plan(disk_model="scsi10k", disk_mb=256)
    assert made.arms[1].elevator is not None
    message = disks.make_request(made.arms[1].elevator, made, "/image")
    assert (message["model"], message["size_mb"], message["file"]) == ("scsi10k", 256, "/image/scratch/disk")
    assert "--disk 256 --disk-model scsi10k" in render_command(made.settings)
    with pytest.raises(UsageError, match="unknown model"):
        plan(disk_model="mfm")


@pytest.mark.skipif(Path("/dev/ublk-control").exists(), reason="this machine has ublk devices")
def test_without_ublk_a_disk_says_how_to_get_it() -> None:
    done = subprocess.run([find_agent(), "disk", "--elevator", "cfq", "--size-mb", "1"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (69, "")
    assert "no ublk devices loaded: modprobe ublk_drv (Linux 6.5 or newer" in done.stderr
