"""The matrix of kernels as text, Markdown and JSON, and its exit code."""

import json
from dataclasses import replace

import pytest
from command import run

from runoff.matrix import views
from runoff.matrix.values import Entry, KernelMatrix
from runoff.statistics import Comparison, Interval, Verdict

SPEED = Comparison("bfs", n=5, log_mean=0.02, log_interval=Interval(0.01, 0.03), verdict=Verdict.WORSE)
GOOD = Entry("debian:6.18", "bfs", stressed_s=120.0, longest_wait_ms=21.5, speed=SPEED)
MATRIX = KernelMatrix(
    kernels=("debian:6.18", "debian:7.2"),
    arms=("bfs", "./mine.bpf.o"),
    entries=(
        GOOD,
        Entry(
            "debian:6.18", "./mine.bpf.o", refused="the kernel rejected it:\x1b[31m red", detail="R1 type=scalar\nend"
        ),
        replace(GOOD, kernel="debian:7.2", speed=replace(SPEED, verdict=Verdict.UNCLEAR)),
        Entry("debian:7.2", "./mine.bpf.o", stress="ejected | runnable task stall"),
    ),
    seconds=120,
    work="hackbench",
    clock="virtual",
)


def test_the_text_has_a_line_for_each_arm_and_says_what_failed():
    text = views.render_text(MATRIX, 100)
    assert "  bfs           yes    yes             21.5 ms       +2.0 % [+1.0, +3.0] -" in text
    assert text.count("  ./mine.bpf.o  ") == 2
    assert "./mine.bpf.o does not load or attach on debian:6.18: the kernel rejected it:\\x1b[31m" in text
    assert "    R1 type=scalar" in text
    assert "./mine.bpf.o failed under stress on debian:7.2: ejected | runnable task stall" in text
    assert text.endswith("2 of 4 fail: ./mine.bpf.o on debian:6.18, ./mine.bpf.o on debian:7.2.\n")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int):
    long = replace(MATRIX, entries=[replace(entry, arm=f"exec:{'x' * 90}") for entry in MATRIX.entries])
    assert max(map(len, views.render_text(long, width).splitlines())) <= width


def test_markdown_escapes_what_it_would_read():
    text = views.render_markdown(MATRIX)
    assert "| debian:6.18 | bfs | yes | yes | 21.5 ms |" in text
    assert "ejected \\| runnable task stall" in text
    assert "\x1b" not in text


def test_json_has_the_same():
    document = json.loads(views.render_json(MATRIX))
    assert (document["schema"], document["exit_code"]) == ("runoff.matrix/1", 1)
    first, refused, _, ejected = document["entries"]
    assert (first["loads"], first["survives"], first["verdict"]) == (True, True, "worse")
    assert first["change_percent"] == pytest.approx(2.02, abs=0.01)
    assert (refused["loads"], refused["survives"], refused["change_percent"]) == (False, None, None)
    assert (ejected["loads"], ejected["survives"]) == (True, False)


def test_the_exit_code_tells_failure_and_what_is_missing():
    good = [entry for entry in MATRIX.entries if not entry.has_failed]
    whole = replace(MATRIX, arms=("bfs",), entries=good)
    assert (MATRIX.exit_code, whole.exit_code) == (1, 0)
    assert "All 2 load, attach and survive 120 virtual seconds of stress. 1 of them slower" in views.describe_outcome(
        whole
    )
    part = replace(whole, entries=good[:1])
    assert part.exit_code == 2
    assert views.describe_outcome(part) == "Provisional, 1 of 2: none fails so far."
    assert replace(whole, entries=[replace(good[0], speed=None), good[1]]).exit_code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bfs", "--kernel", "a", "--kernel", "a"), "kernel 'a' is given twice"),
        (("bfs", "bfs", "--kernel", "a"), "arm 'bfs' is given twice"),
        (("bfs@a", "--kernel", "b"), "names a kernel: every arm is tried on every --kernel"),
        (("nosuch", "--kernel", "b"), "unknown scheduler 'nosuch'"),
        (("bfs", "--kernel", "b", "--work", "nosuch"), "unknown workload 'nosuch'"),
    ],
)
def test_a_matrix_that_cannot_be_is_refused(words: tuple[str, ...], sentence: str, tmp_path):
    assert sentence in run("matrix", *words, "--out", tmp_path / "out", expect=64).stderr
    assert not (tmp_path / "out").exists()


def test_another_question_in_the_same_directory_is_refused(tmp_path):
    (tmp_path / "matrix.json").write_text("{}\n")
    refused = run("matrix", "bfs", "--kernel", "debian", "--out", tmp_path, expect=64).stderr
    assert f"{tmp_path} is of another matrix (see {tmp_path / 'matrix.json'}): choose another --out" in refused
