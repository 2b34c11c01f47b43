"""A campaign on the host that goes on until it is decided, killed in between."""

import os
import signal
import time
from pathlib import Path

import pytest
from campaign_rows import rows
from command import run, start

from runoff.campaign.directory import read_results
from runoff.decide.stopping import look

pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(os.geteuid() != 0, reason="the host engine needs root: run the tests with sudo"),
]

WORK = """title = "test"
description = "A number between 900 and 1100 each time."
command = ["sh", "-c", "echo value $((900 + $(od -An -N2 -tu2 /dev/urandom) % 200))"]
[metrics.value]
pattern = "value ([0-9]+)"
unit = ""
direction = "lower"
title = "value"
"""
MOST = 150
SAMPLES_PER_BLOCK = 2


def test_it_ends_at_the_same_block_however_it_was_killed(tmp_path: Path) -> None:
    (tmp_path / "work.toml").write_text(WORK)
    place = tmp_path / "c"
    options = ("--on", "host", "-n", "a=default", "-n", "b=default", "--until", "4%", "--rare", "30%")
    process = start("compare", *options, "--work", tmp_path / "work.toml", "--most-blocks", str(MOST), "--out", place)
    for kills in range(3):
        while process.poll() is None and len(rows(place)) < SAMPLES_PER_BLOCK * (11 + 3 * kills):
            time.sleep(0.02)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.communicate()
        process = start("resume", place)
    process.communicate()
    assert process.returncode in (0, 2)
    results = read_results(place)
    ends = [blocks for blocks in range(10, MOST + 1) if look(results, blocks, MOST).ends is not None]
    assert results.stopping.ended is not None
    assert results.stopping.ended.blocks == ends[0]
    assert len(results.samples) == results.planned == SAMPLES_PER_BLOCK * ends[0]
    assert run("resume", place, expect=process.returncode).stderr == ""

    more = results.stopping.ended.blocks + 3
    run("resume", place, "--blocks", str(more), expect=0 if process.returncode == 0 else 2)
    longer = read_results(place)
    assert longer.stopping.looks == (results.stopping.ended.blocks,)
    assert longer.stopping.ended is not None
    assert longer.stopping.ended.blocks >= more
    assert longer.samples[: len(results.samples)] == results.samples
