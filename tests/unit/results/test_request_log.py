"""The log of a disk's requests: read, kept in a campaign's directory, printed in the execution of blkparse."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runner import run
from request_logs import FEW, FEW_AS_BLKTRACE, log

from runoff.campaign.directory import create, read_results
from runoff.campaign.journal import requests
from runoff.engines.outcome import ValidSample
from runoff.errors import UsageError
from runoff.files import HeldDirectory
from runoff.plan.make import make_plan
from runoff.plan.order import Cell
from runoff.plan.settings import Settings
from runoff.report.data import blktrace
from runoff.results import StoredLog
from runoff.results.request_log import parse, read


def test_parts_of_one_request_share_its_service():
    found = parse(FEW)
    assert (found.device, found.dropped, found.held) == ("259,2", 2, ((5_000_000, 11_000_000),))
    assert len(found.requests) == 5
    assert found.requests[2].service is found.requests[3].service
    assert [each.service.number for each in found.requests[:3] if each.service] == [0, 1, 2]
    assert found.requests[2].service is not None
    assert (found.requests[2].service.sector, found.requests[2].service.sectors) == (9000, 16)
    assert found.requests[4].service is None
    assert found.exits == ((11_000_000, 7),)


def test_an_older_log_without_exits_is_read() -> None:
    old = "".join(line for line in FEW.splitlines(keepends=True) if not line.startswith(("exit", "asked")))
    assert old != FEW
    assert parse(old) == replace(parse(FEW), exits=())
    assert blktrace.render(parse(old)) == FEW_AS_BLKTRACE


@pytest.mark.parametrize("text", ["", "# device=259,2\n", FEW[:-20], FEW.replace("9008", "x"), "no log\n"])
def test_a_text_that_is_not_a_log_is_refused(text):
    with pytest.raises(UsageError, match="not a log of requests"):
        parse(text)


def test_it_is_printed_as_blkparse_does():
    assert blktrace.render(parse(FEW)) == FEW_AS_BLKTRACE


def test_the_same_log_gives_the_same_bytes_and_half_a_file_is_none(tmp_path: Path):
    digest, again = (requests.store_log(HeldDirectory(tmp_path), name, FEW) for name in ("a", "b"))
    assert digest == again
    first, second = (tmp_path / f"requests/{name}.tsv.gz" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).decode() == FEW
    assert sorted(path.name for path in first.parent.iterdir()) == ["a.tsv.gz", "b.tsv.gz"]
    first.write_bytes(second.read_bytes()[:-9])
    with pytest.raises(UsageError, match="is damaged"):
        read(StoredLog(first, digest))


def test_only_logs_of_samples_in_the_journal_count(tmp_path: Path):
    settings = Settings(arms=("default+io=noop",), workloads=("counters:n=1",), probes=("requests",), blocks=2)
    plan = make_plan(settings)
    with create(tmp_path, plan) as journal:
        for name in ("b0.w0.a0", "b1.w0.a0"):
            requests.store_log(HeldDirectory(tmp_path), name, log())
        digest = requests.store_log(HeldDirectory(tmp_path), "b0.w0.a0", FEW)
        cell = Cell("b0.w0.a0", block=0, position=0, arm=0, work=0, load=0, seed=1)
        journal.add(
            cell,
            plan.arms[0].label,
            plan.works[0].label,
            "",
            ValidSample({"elapsed_s": 1.0}, {}),
            requests_sha256=digest,
        )
    assert list(read_results(tmp_path).requests) == ["b0.w0.a0"]
    assert run("report", tmp_path, "--requests", "b0.w0.a0").stdout == FEW_AS_BLKTRACE
    unknown = run("report", tmp_path, "--requests", "b1.w0.a0", expect=64).stderr
    assert "samples that have one: b0.w0.a0" in unknown
