"""Elevators on a real kernel give requests out as their rules say, and as they do without a kernel.

The pattern of deadline's batches is two of reads to one of writes; a recorded stream is replayed.
"""

import gzip
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from command import run, samples

from runoff.results.request_log import RequestLog, Service, parse

pytestmark = [pytest.mark.lab]

ROOT = Path(__file__).parents[2]
MM2, MQ, NOOP = "deadline", "deadline:variant=mq", "noop"
WAITING = ("anticipatory", "anticipatory:variant=2003", "cfq")
ROUNDS = "cfq:variant=2003,quirks=1"
READERS = 40
ROWS, IN_A_ROW = 4, 15

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

COMING_AND_GOING = f"""
title = "coming and going"
description = "{ROWS} rows of short readers past the page cache, one row idle and one urgent, beside three that write."
prepare = [["sh", "-c", "dd if=/dev/zero of=data bs=1M count=24 2> /dev/null; sync"]]
command = ["sh", "-c", '''
row() {{
    for n in $(seq 0 {IN_A_ROW - 1}); do
        $2 dd if=data of=/dev/null bs=4k count=$((4 + n % 5)) skip=$(($1 * 1024 + n * 64)) iflag=direct 2> /dev/null
    done
}}
row 0 & row 1 & row 2 "ionice -c 3" & row 3 "ionice -c 2 -n 1" &
for n in 1 2 3; do dd if=/dev/zero of=new$n bs=64k count=32 conv=fsync 2> /dev/null & done
wait
''']
timeout_s = 600
elapsed_headline = true
"""


@dataclass(frozen=True)
class Logged:
    """The log and the metrics of one elevator."""

    text: str
    log: RequestLog
    metrics: dict[str, Any]

    def order(self) -> list[str]:
        """The order of the requests, as the replay prints it."""
        return [f"{service.sector} {service.sectors}" for service in served(self.log)]


def logged(folder: Path, work: str, elevators: Iterable[str], model: str) -> dict[str, Logged]:
    """The logs by elevator."""
    (folder / "work.toml").write_text(work)
    arms = [f"default+io={elevator}" for elevator in elevators]
    done = run(
        "compare", *arms, "--work", folder / "work.toml", "--clock", "virtual", "--cpus", "1", "--memory", "256",
        "--seed", "1",
        "--disk", "256", "--disk-model", model, "--blocks", "1", "--probe", "requests", "--out", folder / "c", "--json",
    )  # fmt: skip
    found = {}
    for sample in samples(done.stdout).values():
        assert sample["valid"], sample["reason"]
        path = folder / f"c/requests/{sample['id']}.tsv.gz"
        text = gzip.decompress(path.read_bytes()).decode()
        found[sample["arm"].removeprefix("default+io=")] = Logged(text, parse(text), sample["metrics"])
    return found


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory, lab_kernel: object, lab_image: object) -> dict[str, Logged]:
    """Many at once."""
    return logged(tmp_path_factory.mktemp("crowd"), CROWD, (MM2, MQ, NOOP), "ide2003")


@pytest.fixture(scope="module")
def goings(tmp_path_factory: pytest.TempPathFactory, lab_kernel: object, lab_image: object) -> dict[str, Logged]:
    """Processes that end, of several classes, and flushes."""
    folder = tmp_path_factory.mktemp("goings")
    return logged(folder, COMING_AND_GOING, (*WAITING, ROUNDS), "ide2003:write_cache=on")


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


def test_deadline_serves_two_reads_and_a_write_where_every_request_is_a_batch(crowd: dict[str, Logged]) -> None:
    """A gap ends a batch, and every request is elsewhere."""
    runs = while_all_wait(crowd[MM2].log)
    assert len(runs) > 100
    assert set(runs) == {("R", 2), ("W", 1)}


def test_the_later_deadline_serves_two_batches_of_16_reads_and_one_of_writes(crowd: dict[str, Logged]) -> None:
    runs = while_all_wait(crowd[MQ].log)
    assert runs.count(("R", 32)) >= 3
    assert runs.count(("W", 16)) >= 3
    assert max(length for kind, length in runs if kind == "R") == 32
    assert max(length for kind, length in runs if kind == "W") == 16


def replayed(elevator: str, text: str) -> list[str]:
    """The order in which ``elevator`` alone gives out what the log ``text`` tells it."""
    name, _, parameters = elevator.partition(":")
    command = ["cargo", "run", "--quiet", "--release", "--locked", "-p", "elevators", "--example", "replay", "--"]
    done = subprocess.run(
        [*command, name, *filter(None, parameters.split(","))],
        cwd=ROOT,
        input=text,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("elevator", [MM2, MQ, NOOP])
def test_the_same_elevator_without_a_kernel_gives_the_same_order(elevator: str, crowd: dict[str, Logged]) -> None:
    order = crowd[elevator].order()
    assert len(order) > 1000
    assert replayed(elevator, crowd[elevator].text) == order


@pytest.mark.parametrize("elevator", [*WAITING, ROUNDS])
def test_it_gives_the_same_order_where_processes_come_and_go(elevator: str, goings: dict[str, Logged]) -> None:
    found = goings[elevator]
    assert len(found.log.exits) >= ROWS * IN_A_ROW
    assert {"R", "W", "WS", "F"} <= {request.rwbs for request in found.log.requests}
    assert {"be1", "idle"} < {request.priority for request in found.log.requests}
    assert len(found.order()) > 500
    assert replayed(elevator, found.text) == found.order()


@pytest.mark.parametrize("elevator", WAITING)
def test_an_elevator_waits_for_a_process_whose_end_is_not_reported(elevator: str, goings: dict[str, Logged]) -> None:
    found = goings[elevator]
    assert found.metrics["disk_held_s"] > 0
    lines = found.text.splitlines(keepends=True)
    without = replayed(elevator, "".join(line for line in lines if not line.startswith("exit")))
    assert without != found.order()
