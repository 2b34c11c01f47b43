"""Elevators on a real kernel give requests out as their rules say, and as they do without a kernel.

specs/benchmarks/iosched.md 11.6: the pattern of deadline's batches, and the replay of a recorded stream.
"""

import gzip
import subprocess
from itertools import groupby
from pathlib import Path

import pytest
from command import run, samples

from runoff.request_log import RequestLog, Service, read

pytestmark = [pytest.mark.lab, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
MM2, MQ, NOOP = "deadline", "deadline:variant=mq", "noop"
READERS = 40

CROWD = f"""
title = "readers and writers"
description = "{READERS} programs read and {READERS} write, each one block after the other, past the page cache."
prepare = [["sh", "-c", "dd if=/dev/zero of=data bs=1M count=80 2> /dev/null; sync"]]
command = ["sh", "-c", '''
for n in $(seq 0 {READERS - 1}); do
    dd if=data of=/dev/null bs=4k count=12 skip=$((n * 512)) iflag=direct 2> /dev/null &
    dd if=/dev/zero of=data bs=4k count=6 seek=$((n * 512 + 256)) oflag=direct conv=notrunc 2> /dev/null &
done
wait
''']
timeout_s = 600
elapsed_headline = true
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory, lab_kernel: object, lab_image: object) -> dict[str, Path]:
    """The log of each elevator's requests."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "crowd.toml").write_text(CROWD)
    arms = [f"default+io={elevator}" for elevator in (MM2, MQ, NOOP)]
    done = run(
        "compare", *arms, "--work", folder / "crowd.toml", "--clock", "virtual", "--cpus", "1", "--memory", "256",
        "--disk", "256", "--blocks", "1", "--probe", "requests", "--out", folder / "c", "--json",
    )  # fmt: skip
    found = {}
    for sample in samples(done.stdout).values():
        assert sample["valid"], sample["reason"]
        found[sample["arm"].removeprefix("default+io=")] = folder / f"c/requests/{sample['id']}.tsv.gz"
    return found


def served(log: RequestLog) -> list[Service]:
    """In order of dispatch."""
    services = {request.service.number: request.service for request in log.requests if request.service is not None}
    return [services[number] for number in sorted(services)]


def while_all_wait(log: RequestLog) -> list[tuple[str, int]]:
    """How many reads, then writes, then reads ... were given out, from when many wait until the writers go."""
    kinds = {request.service.number: request.rwbs[0] for request in log.requests if request.service is not None}
    waiting = [kinds[service.number] for service in served(log) if service.depth > READERS]
    runs = [(kind, len(list(group))) for kind, group in groupby(waiting)]
    # The first and the last began or ended elsewhere.
    return runs[2:-2]


def test_deadline_serves_two_reads_and_a_write_where_every_request_is_a_batch(logs: dict[str, Path]) -> None:
    """A gap ends a batch, and everybody is elsewhere."""
    runs = while_all_wait(read(logs[MM2]))
    assert len(runs) > 100
    assert set(runs) == {("R", 2), ("W", 1)}


def test_the_later_deadline_serves_two_batches_of_16_reads_and_one_of_writes(logs: dict[str, Path]) -> None:
    runs = while_all_wait(read(logs[MQ]))
    assert runs.count(("R", 32)) >= 3
    assert runs.count(("W", 16)) >= 3
    assert max(length for kind, length in runs if kind == "R") == 32
    assert max(length for kind, length in runs if kind == "W") == 16


@pytest.mark.parametrize("elevator", [MM2, MQ, NOOP])
def test_the_same_elevator_without_a_kernel_gives_the_same_order(elevator: str, logs: dict[str, Path]) -> None:
    name, _, parameters = elevator.partition(":")
    command = ["cargo", "run", "--quiet", "--release", "--locked", "-p", "elevators", "--example", "replay", "--"]
    done = subprocess.run(
        [*command, name, *filter(None, parameters.split(","))],
        cwd=ROOT,
        input=gzip.decompress(logs[elevator].read_bytes()).decode(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    order = [f"{service.sector} {service.sectors}" for service in served(read(logs[elevator]))]
    assert len(order) > 1000
    assert done.stdout.splitlines() == order
