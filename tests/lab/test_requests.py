"""The log of a disk's requests: those of a real kernel, its metrics, its views.

Under the virtual clock on one CPU, so that two runs have to give the same bytes.
"""

import gzip
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import run, samples

from runoff.results.request_log import RequestLog, parse

pytestmark = [pytest.mark.lab]

ANTICIPATORY, NOOP = "default+io=anticipatory", "default+io=noop"

READERS = """
title = "two readers"
description = "Two programs that read a file each."
prepare = [["sh", "-c", '''
for name in a b; do dd if=/dev/zero of=$name bs=64k count=8 2> /dev/null; done
sync; for name in a b; do dd if=$name of=/dev/null iflag=nocache count=0 2> /dev/null; done
''']]
command = ["sh", "-c", "for name in a b; do dd if=$name of=/dev/null bs=64k 2> /dev/null & done; wait"]
timeout_s = 600
elapsed_headline = true
"""

LINE = re.compile(
    r" *\d+,\d+ +(?P<cpu>\d+) +(?P<number>\d+) +(?P<at>-?\d+\.\d{9}) +(?P<pid>\d+) +(?P<action>[QMDC]) +"
    r"(?P<rwbs>R|WS?|F) (?P<sector>\d+) \+ (?P<sectors>\d+) \[(?P<comm>[ -~]*)\]"
)
MESSAGE = re.compile(r" *\d+,\d+ +0 +\d+ +-?\d+\.\d{9} +0 +m +N (held idle, requests wait|goes on)")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, lab_kernel: object, lab_image: object) -> list[Path]:
    """Two campaigns of one plan."""
    folder = tmp_path_factory.mktemp("requests")
    (folder / "readers.toml").write_text(READERS)
    words = ("compare", "--seed", "1", ANTICIPATORY, NOOP, "--work", folder / "readers.toml", "--load", "io:size_mb=16")
    words += ("--clock", "virtual", "--cpus", "1", "--memory", "256", "--disk", "256", "--blocks", "1")
    for name in ("a", "b"):
        run(*words, "--probe", "requests", "--out", folder / name)
    return [folder / "a", folder / "b"]


@pytest.fixture(scope="module")
def taken(runs: list[Path]) -> dict[str, dict[str, Any]]:
    """Samples of the first by arm."""
    found = {sample["arm"]: sample for sample in samples(run("report", runs[0], "--json").stdout).values()}
    assert all(sample["valid"] for sample in found.values()), found
    return found


def read_log(path: Path) -> RequestLog:
    return parse(gzip.decompress(path.read_bytes()).decode())


def path(runs: list[Path], taken: dict[str, dict[str, Any]], arm: str) -> Path:
    return runs[0] / f"requests/{taken[arm]['id']}.tsv.gz"


@pytest.fixture(scope="module", params=[ANTICIPATORY, NOOP])
def logged(
    request: pytest.FixtureRequest, runs: list[Path], taken: dict[str, dict[str, Any]]
) -> tuple[RequestLog, dict[str, float]]:
    """Log and metrics of each arm."""
    return read_log(path(runs, taken, request.param)), taken[request.param]["metrics"]


def test_two_runs_give_the_same_bytes(runs: list[Path]) -> None:
    first, second = ({file.name: file.read_bytes() for file in (folder / "requests").iterdir()} for folder in runs)
    assert len(first) == 2
    assert first == second


def test_the_log_has_all_that_the_metrics_count(logged: tuple[RequestLog, dict[str, float]]) -> None:
    log, metrics = logged
    services = {request.service.number for request in log.requests if request.service is not None}
    assert (log.dropped, metrics["requests_dropped"]) == (0, 0)
    assert len(log.requests) == metrics["disk_requests"] > 50
    assert len(services) == metrics["disk_served"]
    read_kb = sum(request.sectors for request in log.requests if request.rwbs == "R") / 2
    assert read_kb == metrics["disk_read_kb"] > 1024
    assert sum(until - start for start, until in log.held) / 1e9 == pytest.approx(metrics["disk_held_s"], abs=1e-9)


def test_percentiles_are_those_of_the_metrics(logged: tuple[RequestLog, dict[str, float]]) -> None:
    log, metrics = logged
    for kind, classes in (("read", {"R"}), ("write", {"W", "WS"})):
        times = sorted(latencies(log, classes))
        assert times[-1] / 1e6 == pytest.approx(metrics[f"disk_{kind}_max_ms"], abs=1e-6)
        for percent in (50, 95, 99):
            exact_ms = times[-(-len(times) * percent // 100) - 1] / 1e6
            assert exact_ms <= metrics[f"disk_{kind}_p{percent}_ms"] + 1e-6 <= exact_ms * 1.001 + 2e-6


def latencies(log: RequestLog, classes: set[str]) -> Iterator[int]:
    for request in log.requests:
        if request.rwbs in classes and request.service is not None and request.service.done_ns is not None:
            yield request.service.done_ns - request.arrived_ns


def test_one_request_is_served_at_a_time(logged: tuple[RequestLog, dict[str, float]]) -> None:
    log, _ = logged
    services = {request.service.number: request.service for request in log.requests if request.service is not None}
    ordered = [services[number] for number in sorted(services)]
    for before, after in pairwise(ordered):
        assert before.done_ns is not None
        assert before.done_ns <= after.dispatched_ns <= after.reached_ns


def test_only_anticipatory_holds_the_disk_and_readers_have_names(
    runs: list[Path], taken: dict[str, dict[str, Any]]
) -> None:
    anticipatory, noop = (read_log(path(runs, taken, arm)) for arm in (ANTICIPATORY, NOOP))
    assert len(anticipatory.held) > 0
    assert noop.held == ()
    for log in (anticipatory, noop):
        readers = {request.pid for request in log.requests if request.comm == "dd" and request.rwbs == "R"}
        assert len(readers) == 2


def test_it_is_printed_by_the_documented_columns(runs: list[Path], taken: dict[str, dict[str, Any]]) -> None:
    for arm in (ANTICIPATORY, NOOP):
        lines = run("report", runs[0], "--requests", taken[arm]["id"]).stdout.splitlines()
        found = [LINE.fullmatch(line) for line in lines if not MESSAGE.fullmatch(line)]
        events = [match for match in found if match is not None]
        assert len(events) == len(found)
        metrics = taken[arm]["metrics"]
        assert sum(event["action"] == "Q" for event in events) == metrics["disk_requests"]
        assert sum(event["action"] == "D" for event in events) == metrics["disk_served"]
        times = [float(event["at"]) for event in events]
        assert times == sorted(times)


def test_the_page_has_a_picture_of_each_arm_and_the_text_says_so(runs: list[Path]) -> None:
    page = (runs[0] / "report.html").read_text()
    assert page.count('<figure class="timeline">') == 2
    assert page.count('class="held"') == 1
    assert "is drawn in the page (--html) for 2 samples" in " ".join(run("report", "--verbose", runs[0]).stdout.split())
