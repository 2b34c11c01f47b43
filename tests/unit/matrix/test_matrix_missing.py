"""What is missing is not the scheduler's failure: exit code 69, a cell of its own, an error in JUnit's XML."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_runner import run
from matrix_examples import GOOD, MATRIX

from runoff.engines.lab import cache, kernel
from runoff.matrix import views
from runoff.matrix.page import render_page
from runoff.matrix.values import Entry, KernelMatrix

LACKING = Entry("debian:9.9", "bfs", missing="the lab has no kernel debian:9.9: runoff kernel add debian:9.9")
MISSING = KernelMatrix(
    ("debian:6.18", "debian:9.9"), ("bfs",), (GOOD, LACKING), seconds=120, work="hackbench", clock="virtual"
)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNOFF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_kernel_that_is_not_there_is_missing(own_cache: Path, tmp_path: Path):
    words = ("matrix", "--kernel", "debian:9.9", "bfs", "o1", "--out", tmp_path / "out", "--junit", tmp_path / "j.xml")
    document = json.loads(run(*words, "--json", expect=69).stdout)
    assert document["exit_code"] == 69
    assert [(each["loads"], each["survives"], each["tried"]) for each in document["entries"]] == [
        (None, None, False)
    ] * 2
    assert document["outcome"] == ("2 of 2 not tried, as something is missing: bfs on debian:9.9, o1 on debian:9.9.")
    text = run(*words, expect=69).stdout
    assert "bfs was not tried on debian:9.9: the lab has no kernel debian:9.9: runoff kernel add debian:9.9" in text
    assert "fail" not in text
    root = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "2")


def test_a_kernel_without_sched_ext_is_missing(own_cache: Path, tmp_path: Path):
    """As far as one is looked at before it boots."""
    directory = cache.kernels() / "debian-6.1.1"
    directory.mkdir(parents=True)
    kernel.write_meta(
        directory, kernel.Meta("debian:6.1.1", "6.1.1", "1", False, True, 250, False, "0" * 64, None, None, {})
    )
    stored = kernel.find("debian:6.1")
    stored.vmlinux.write_bytes(b"kernel")
    kernel.write_meta(directory, replace(stored.meta, sha256=cache.sha256(stored.vmlinux)))
    words = ("matrix", "--kernel", "debian:6.1", "bfs", "--out", tmp_path / "out")
    text = " ".join(run(*words, expect=69).stdout.split())
    assert (
        "bfs was not tried on debian:6.1: arm 'bfs' cannot run on the kernel debian:6.1.1: it has no sched_ext" in text
    )


@pytest.mark.parametrize("text", [views.render_text(MISSING, 80), views.render_markdown(MISSING)])
def test_it_is_told_in_words(text: str):
    assert "1 of 2 not tried, as something is missing: bfs on debian:9.9." in " ".join(text.split())
    assert "the lab has no kernel debian:9.9" in text
    assert "not tried" in text


def test_a_failure_counts_more_than_what_is_missing():
    both = replace(MATRIX, kernels=(*MATRIX.kernels, "debian:9.9"), entries=(*MATRIX.entries, LACKING))
    assert (both.exit_code, MISSING.exit_code, replace(MISSING, is_stopped=True).exit_code) == (1, 69, 130)
    assert views.describe_outcome(both).endswith(
        "./mine.bpf.o on debian:7.2. 1 of 6 not tried, as something is missing: bfs on debian:9.9."
    )


def test_the_page_has_a_cell_that_is_no_failure():
    page = render_page(MISSING)
    assert page.count(">not tried<") == 1
    assert "bfs was not tried on debian:9.9" in page
    assert 'class="worse"' not in page


def test_junit_has_a_test_for_each_arm_on_each_kernel():
    both = replace(MATRIX, kernels=(*MATRIX.kernels, "debian:9.9"), entries=(*MATRIX.entries, LACKING))
    root = ElementTree.fromstring(views.render_junit(both))
    cases = {(case.get("classname"), case.get("name")): case for case in root.iter("testcase")}
    assert list(cases) == [(kernel, arm) for kernel in both.kernels for arm in both.arms]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "2", "2")
    assert not list(cases["debian:6.18", "bfs"])
    refused = cases["debian:6.18", "./mine.bpf.o"].find("failure")
    assert refused.get("type") == "refused"
    assert "the kernel rejected it" in refused.get("message")
    assert cases["debian:9.9", "bfs"].find("error").get("type") == "missing"
    assert cases["debian:9.9", "./mine.bpf.o"].find("error").get("type") == "not-complete"
