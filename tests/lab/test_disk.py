"""The disk behind an elevator on a real kernel: its data, its errors, and what elevators make of readers.

Under the virtual clock on one CPU everything is repeatable, so the figures are those of every run.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import run, samples
from copies import MakeCopies

from runoff.engines import ext4
from runoff.engines.lab import guest, kernel
from runoff.engines.lab.libraries import add_libraries
from runoff.engines.outcome import Outcome, ValidSample, VoidSample

pytestmark = [pytest.mark.lab, pytest.mark.core]

SIZE_MB = 64
PROGRAMS = "sh cat cmp dd e2fsck head ls mkdir mount sha256sum sleep sync tail umount"
MODULES = ("ublk_drv", "mq-deadline", "kyber-iosched", "bfq")

# The number of a disk that went is free a little later, so the next one may have another.
SERVE = """
serve() {
    : > disk.log; runoff-agent disk "$@" > disk.log 2>&1 & server=$!
    until grep_device; do sleep 0.05; done
    disk=$(echo /dev/ublkb*)
}
grep_device() { case "$(cat disk.log)" in *device*) true;; *runoff-agent*) cat disk.log; exit 9;; *) false;; esac; }
end() { kill $server; wait $server; echo "ended=$?"; tail -n 1 disk.log; }
"""

DATA = """
serve --elevator cfq --model none --size-mb 64 --content /disk.blocks
mkdir m; mount -t ext4 $disk m
for n in 1 2 3 4; do dd if=/dev/urandom of=m/$n bs=70001 count=$((n * 10)) 2> /dev/null; done
sha256sum m/* > sums
kill $server; sleep 0.2; tail -n 1 disk.log
umount m; echo 3 > /proc/sys/vm/drop_caches
mount -t ext4 $disk m; sha256sum -c sums && echo "sums=1"; umount m
e2fsck -fn $disk > fsck.log 2>&1; echo "fsck=$?"
dd if=/dev/zero of=$disk bs=512 seek=$((64 * 2048)) count=1 oflag=direct 2> /dev/null; echo "beyond=$?"
kill $server; wait $server; echo "ended=$?"
ls $disk 2> /dev/null; echo "gone=$?"
"""

# Each of many waits, so that the next request has the tag of one as soon as that is answered.
CROWD = """
serve --elevator {} --model none --size-mb 64
for n in 0 1 2 3 4 5 6 7; do dd if=/dev/urandom of=$n bs=64k count=16 2> /dev/null; done
writers=
for n in 0 1 2 3 4 5 6 7; do
    dd if=$n of=$disk bs=4k seek=$((n * 256)) oflag=direct conv=notrunc 2> /dev/null & writers="$writers $!"
done
wait $writers
for n in 0 1 2 3 4 5 6 7; do
    dd if=$disk bs=4k skip=$((n * 256)) count=256 iflag=direct 2> /dev/null | sha256sum > read
    sha256sum < $n > written; cmp written read && echo "kept$n=1"
done
end
"""
WRITERS = [f"kept{n}" for n in range(8)]
CROWDED = ("noop", "mq-deadline", "bfq")

KILLED = """
serve --elevator deadline --size-mb 64 --content /disk.blocks
mkdir m; mount -t ext4 $disk m
dd if=/dev/zero of=m/before bs=64k count=4 conv=fsync 2> /dev/null; echo "before=$?"
kill -9 $server; wait $server
dd if=/dev/zero of=m/after bs=64k count=4 conv=fsync 2> /dev/null; echo "after=$?"
umount m; echo "umount=$?"
runoff-agent sweep
ls /dev/ublkc* 2> /dev/null; echo "gone=$?"
"""

REFUSED = """
runoff-agent disk --elevator anticipatory antic_expire_ms=2000; echo "range=$?"
runoff-agent disk --elevator cfx; echo "unknown=$?"
runoff-agent disk --elevator cfq --size-mb 100000; echo "size=$?"
runoff-agent disk --elevator bfq slice_idle=0; echo "tunable=$?"
runoff-agent disk --elevator mq-deadline --size-mb 1 fifo_batch=0; echo "limit=$?"
runoff-agent disk --elevator bfq --size-mb 1 slice_idle_us=0 strict_guarantees=1; echo "untaken=$?"
ls /dev/ublkb* 2> /dev/null; echo "gone=$?"
"""

KERNEL_ELEVATORS = """
for elevator in none mq-deadline kyber bfq; do
    serve --elevator $elevator --size-mb 64
    case "$(cat /sys/block/${disk#/dev/}/queue/scheduler)" in *"[$elevator]"*) echo "$elevator is in charge";; esac
    runoff-agent readers $disk --random-seed 1 --seconds 1
    end
done
"""

KERNELS = ("none", "mq-deadline", "kyber", "bfq")
RATE_UNDER = r'{} is in charge\n.*"reads_per_s":\[([0-9.]+)'


def cargo(folder: Path, modules: tuple[str, ...] = MODULES) -> guest.Cargo:
    """Some of this machine's programs and an empty file system for a disk; there is no image."""
    found = {name: shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin") for name in PROGRAMS.split()}
    programs = {f"/usr/bin/{name}": Path(path) for name, path in found.items() if path is not None}
    content = ext4.write_blocks(folder / "disk.blocks", SIZE_MB)
    return guest.Cargo(files={"/disk.blocks": content}, programs=add_libraries(programs), modules=modules)


def request(name: str, script: str, metrics: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """A sample that runs ``script``; ``metrics`` are patterns, and ``name=NUMBER`` is found without one."""
    return {
        "type": "sample",
        "id": name,
        "scheduler": {"kind": "default"},
        "workload": {
            "name": name,
            "root": None,
            "prepare": [],
            "command": ["sh", "-c", script],
            "environment": {},
            "timeout_s": 300,
            "extract": [{"metric": key, "find": {"pattern": pattern}} for key, pattern in (metrics or {}).items()],
        },
        **more,
    }


def numbers(*names: str) -> dict[str, str]:
    return {name: rf"(?m)^{name}=(\d+)$" for name in names}


READ_S = 2
RANDOM_S = 10
"""Single random reads spread more: the disk turns once in 8.3 ms."""


def reads(elevator: str, readers: str) -> dict[str, Any]:
    """The share of an ide2003 that readers get."""
    count = 2 if "--readers 2" in readers else 1
    per_reader = [
        {"metric": f"{name}{index}", "find": {"pattern": rf'"{name}":\[(?:[0-9.]+,){{{index}}}([0-9.]+)'}}
        for index in range(count)
        for name in ("mb_per_s", "reads_per_s")
    ]
    seconds = RANDOM_S if readers == RANDOM else READ_S
    script = f"{SERVE} serve --elevator {elevator}; runoff-agent readers $disk {readers} --seconds {seconds}; end"
    made = request(f"{elevator} {readers}", script, {"served": r'"served":(\d+)', "late": r'"late":(\d+)'})
    made["workload"]["extract"] += per_reader
    return made


TWO = "--readers 2 --apart-mb 4096"
ONE = "--readers 1"
RANDOM = "--random-seed 1"


def on_disk(name: str, script: str, parameters: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A sample whose directory is on the disk; the first word of ``name`` is the elevator."""
    disk = {
        "kind": "made",
        "elevator": name.split()[0],
        "parameters": parameters or {},
        "model": "ide2003",
        "size_mb": SIZE_MB,
        "file": "/tmp/disk",
        "content": "/disk.blocks",
    }
    return request(f"on {name}", script, numbers("written"), scratch="/run/disk", disk=disk)


# The root of the disk's file system is above the directory of the sample.
ON_DISK = """
test ! -e ../marker || exit 1
echo > ../marker
dd if=/dev/zero of=x bs=64k count=64 conv=fsync 2> /dev/null && echo "written=1"
"""
KILL_SERVER = """
for process in /proc/[0-9]*; do
    case "$(head -c 80 $process/cmdline)" in *disk*--elevator*) kill -9 ${process#/proc/};; esac
done
sleep 1; echo "written=1"
"""


QUEUE = "cd /sys/block/ublkb*/queue; "
TUNED = {
    "bfq": {"slice_idle_us": "0", "timeout_sync_ms": "200"},
    "mq-deadline": {"read_expire_ms": "100", "fifo_batch": "4"},
    "kyber": {"read_lat_nsec": "1000000"},
}
FILES = {"timeout_sync_ms": "timeout_sync", "read_expire_ms": "read_expire"}
"""Where the kernel's name is without the unit."""


def tuned(elevator: str) -> dict[str, Any]:
    """A sample that succeeds only with these values in the kernel."""
    given = TUNED[elevator]
    tests = [f'test "$(cat iosched/{FILES.get(name, name)})" = {value} || exit 1\n' for name, value in given.items()]
    return on_disk(f"{elevator} as tuned", f"{QUEUE}{''.join(tests)}echo written=1", given)


CHANGES = {
    "mq-deadline switched": (
        "echo none > scheduler",
        "the elevator of DISK was changed from mq-deadline to none while the sample ran",
    ),
    "bfq switched back": (
        "echo none > scheduler; echo bfq > scheduler",
        "the elevator bfq of DISK was changed and changed back while the sample ran",
    ),
    "noop switched back": (
        "echo bfq > scheduler; echo none > scheduler",
        "the elevator none of DISK was changed and changed back while the sample ran",
    ),
    "mq-deadline tuned": (
        "echo 3 > iosched/fifo_batch",
        "fifo_batch of the elevator mq-deadline of DISK was changed from 16 to 3 while the sample ran",
    ),
    "kyber shortened": (
        "echo 32 > nr_requests",
        # It is the first of the two that changed.
        "async_depth of the queue of DISK was changed from 128 to 16 while the sample ran",
    ),
    "noop doubled": (
        "echo mq-deadline > scheduler",
        "the elevator of DISK was changed from none to mq-deadline while the sample ran",
    ),
}


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory, copies: MakeCopies) -> dict[str, Outcome]:
    """All samples, one after the other in one guest."""
    requests = [
        request("data", SERVE + DATA, numbers("sums", "fsck", "beyond", "ended", "gone")),
        request("killed", SERVE + KILLED, numbers("before", "after", "umount", "gone")),
        request("refused", REFUSED, numbers("range", "unknown", "size", "tunable", "limit", "untaken", "gone")),
        request("kernel", SERVE + KERNEL_ELEVATORS, {name: RATE_UNDER.format(name) for name in KERNELS}),
        on_disk("anticipatory", ON_DISK),
        on_disk("cfq", KILL_SERVER),
        on_disk("deadline", ON_DISK),
        *(tuned(elevator) for elevator in TUNED),
        *(on_disk(name, f"{QUEUE}{change}; echo written=1") for name, (change, _) in CHANGES.items()),
        reads("noop", RANDOM),
        reads("anticipatory", ONE),
        *(reads(elevator, TWO) for elevator in ("noop", "deadline", "anticipatory", "cfq")),
    ]
    outcomes, _ = copies(cargo=cargo(tmp_path_factory.mktemp("disk"))).session(requests)
    return {made["id"]: outcome for made, outcome in zip(requests, outcomes, strict=True)}


def metrics(outcome: Outcome) -> Mapping[str, float]:
    assert isinstance(outcome, ValidSample), outcome.reason
    return outcome.metrics


def test_written_data_are_read_back_and_the_file_system_stays_whole(taken: dict[str, Outcome]) -> None:
    found = metrics(taken["data"])
    assert (found["sums"], found["fsck"]) == (1, 0)


def test_beyond_its_end_nothing_is_written(taken: dict[str, Outcome]) -> None:
    assert metrics(taken["data"])["beyond"] == 1


def test_it_is_gone_when_its_server_has_ended(taken: dict[str, Outcome]) -> None:
    found = metrics(taken["data"])
    assert found["ended"] == 0
    assert found["gone"] > 0


def test_without_its_server_there_are_errors_and_no_hang(taken: dict[str, Outcome]) -> None:
    found = metrics(taken["killed"])
    assert found["before"] == 0
    assert found["after"] > 0
    assert found["gone"] > 0


def test_what_no_disk_can_be_is_refused_as_usage(taken: dict[str, Outcome]) -> None:
    found = metrics(taken["refused"])
    assert [found[name] for name in ("range", "unknown", "size", "tunable", "limit")] == [64] * 5


def test_what_the_kernel_does_not_take_makes_no_disk(taken: dict[str, Outcome]) -> None:
    """bfq's strict_guarantees takes the idle time back that was set before it."""
    found = metrics(taken["refused"])
    assert found["untaken"] == 1
    assert found["gone"] > 0


@pytest.mark.parametrize("elevator", TUNED)
def test_tunables_are_those_of_the_arm(taken: dict[str, Outcome], elevator: str) -> None:
    assert metrics(taken[f"on {elevator} as tuned"])["written"] == 1


@pytest.mark.parametrize("name", CHANGES)
def test_a_sample_whose_elevator_did_not_stay_in_charge_is_void(taken: dict[str, Outcome], name: str) -> None:
    outcome = taken[f"on {name}"]
    assert isinstance(outcome, VoidSample), outcome
    assert re.sub(r"ublkb\d+", "DISK", outcome.reason) == CHANGES[name][1]


def test_the_kernels_own_elevators_work_on_it(taken: dict[str, Outcome]) -> None:
    found = metrics(taken["kernel"])
    # The 64 MiB are its outermost cylinders, so seeks are short: half a revolution and the settling remain.
    assert all(100 < found[name] < 240 for name in KERNELS), found


def test_a_sample_has_a_fresh_disk_and_its_metrics(taken: dict[str, Outcome]) -> None:
    for elevator in ("anticipatory", "deadline"):
        found = metrics(taken[f"on {elevator}"])
        assert found["disk_written_kb"] >= 4096
        # 4 MiB at 40 MB/s at the most.
        assert found["elapsed_s"] > found["disk_busy_s"] / 2 > 0.05


def test_a_sample_whose_disk_is_lost_is_void_and_the_next_is_not(taken: dict[str, Outcome]) -> None:
    outcome = taken["on cfq"]
    assert isinstance(outcome, VoidSample), outcome
    assert "the disk was lost" in outcome.reason
    assert isinstance(taken["on deadline"], ValidSample)


def test_random_reads_are_those_of_2003(taken: dict[str, Outcome]) -> None:
    """Acceptance: 75 to 85 a second."""
    found = metrics(taken[f"noop {RANDOM}"])
    assert 75 <= found["reads_per_s0"] <= 85


def test_a_reader_gets_the_rate_of_the_disk(taken: dict[str, Outcome]) -> None:
    """Acceptance: 35 to 40 MB/s, at the outer edge."""
    assert 35 <= metrics(taken[f"anticipatory {ONE}"])["mb_per_s0"] <= 40


def both(taken: dict[str, Outcome], elevator: str) -> list[float]:
    found = metrics(taken[f"{elevator} {TWO}"])
    return [found["mb_per_s0"], found["mb_per_s1"]]


def test_anticipation_keeps_80_percent_for_two_readers(taken: dict[str, Outcome]) -> None:
    alone = metrics(taken[f"anticipatory {ONE}"])["mb_per_s0"]
    assert sum(both(taken, "anticipatory")) >= 0.8 * alone
    assert sum(both(taken, "cfq")) >= 0.8 * alone


def test_without_it_at_most_60_percent_are_left(taken: dict[str, Outcome]) -> None:
    alone = metrics(taken[f"anticipatory {ONE}"])["mb_per_s0"]
    for elevator in ("noop", "deadline"):
        assert sum(both(taken, elevator)) <= 0.6 * alone


def test_cfq_gives_both_readers_the_same(taken: dict[str, Outcome]) -> None:
    least, most = sorted(both(taken, "cfq"))
    assert most <= 1.1 * least


def test_requests_are_served_on_time(taken: dict[str, Outcome]) -> None:
    """Acceptance: 99 % of the completions within 0.3 ms of the model's time."""
    for name, outcome in taken.items():
        if " --" in name:
            found = metrics(outcome)
            assert found["late"] <= 0.01 * found["served"], name


def test_an_arm_with_an_elevator_repeats_itself_under_the_virtual_clock(
    tmp_path: Path, lab_kernel: kernel.Kernel
) -> None:
    words = (
        "compare",
        "--seed",
        "1",
        "default+io=anticipatory:antic_expire_ms=8",
        "--work",
        "counters:n=1,count=3000000,passes=1",
    )
    words += ("--load", "io:size_mb=16", "--clock", "virtual", "--cpus", "1", "--memory", "256", "--disk", "64")
    documents = [run(*words, "--blocks", "1", "--out", tmp_path / name, "--json").stdout for name in ("a", "b")]
    (first,), (second,) = (samples(document).values() for document in documents)
    assert first["valid"], first
    assert first["metrics"]["disk_written_kb"] > 0
    assert first["metrics"] == second["metrics"]
    assert "process; the kernel's flusher for what it writes back" in documents[0]


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory, copies: MakeCopies) -> dict[str, Outcome]:
    """On two CPUs, so that the kernel does something while the server does."""
    requests = [request(name, SERVE + CROWD.format(name), numbers(*WRITERS)) for name in CROWDED]
    outcomes, _ = copies(cpus=2, cargo=cargo(tmp_path_factory.mktemp("crowds"))).session(requests)
    return dict(zip(CROWDED, outcomes, strict=True))


@pytest.mark.parametrize("elevator", CROWDED)
def test_many_writers_at_once_find_what_they_wrote(crowds: dict[str, Outcome], elevator: str) -> None:
    found = metrics(crowds[elevator])
    assert [found[name] for name in WRITERS] == [1] * len(WRITERS)
