"""The matrix of kernels as text, Markdown and JSON, and its exit code."""

import json
from dataclasses import replace

import pytest
from cli_runner import run
from matrix_examples import MATRIX

from runoff.errors import MissingError
from runoff.matrix import views
from runoff.matrix.page import FILE, render_page, write_page


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


def test_the_page_has_every_arm_on_every_kernel_and_why_it_failed():
    page = render_page(replace(MATRIX, kernels=(*MATRIX.kernels, "debian:7.3 <new>")))
    assert page.count("<td") == 6
    assert page.count("not tried yet") == 2
    assert "debian:7.3 &lt;new&gt;" in page
    assert '<a href="debian-6.18/speed/report.html">' in page
    assert "+2.0 % [+1.0, +3.0] - worse" in page
    assert page.count("does not load<small>") == 1
    assert "the kernel rejected it:\\x1b[31m red" in page
    assert "R1 type=scalar" in page
    assert "\x1b" not in page
    for failure in ("f1", "f3"):
        assert f'<a href="#{failure}">' in page
        assert f'id="{failure}"' in page
    data = page.split('id="runoff-matrix">')[1].split("</script>")[0]
    assert json.loads(data)["exit_code"] == 1


def test_a_page_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(MissingError, match=r"cannot write .*matrix.html: .*: give the same command again"):
        write_page(MATRIX, tmp_path)


def test_the_exit_code_tells_failure_and_what_is_missing():
    good = [entry for entry in MATRIX.entries if not entry.has_failed]
    whole = replace(MATRIX, arms=("bfs",), entries=good)
    assert (MATRIX.exit_code, whole.exit_code) == (1, 0)
    assert "All 2 load, attach and survive 120 virtual seconds of stress. 1 of them slower" in views.describe_outcome(
        whole
    )
    one = replace(whole, kernels=("debian:6.18",), entries=good[:1], seconds=1)
    told = "bfs loads and attaches on debian:6.18 and survives 1 virtual second of stress."
    assert views.describe_outcome(one) == f"{told} It is slower than the kernel's own scheduler."
    part = replace(whole, entries=good[:1])
    assert part.exit_code == 2
    assert views.describe_outcome(part) == "Provisional, 1 of 2: none fails so far."
    assert replace(whole, entries=[replace(good[0], speed=None), good[1]]).exit_code == 2
    assert replace(MATRIX, is_stopped=True).exit_code == 130


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
