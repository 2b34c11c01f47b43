"""Any text by a pattern: the agent finds the numbers, with all the care that it has for what workloads print."""

from pathlib import Path

import pytest
from cli_runner import ask
from imported import refuse, take, values, verdicts, write

from runoff.cli.main import cli

LINES = "Run {run} of {arm}:\nTime: {time} ms\nJitter = {jitter} us\n"


@pytest.fixture(autouse=True)
def _work_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(arm: str, base: float) -> str:
    return "".join(LINES.format(run=run, arm=arm, time=base + run % 4, jitter=-46.9 + run) for run in range(10))


def test_a_file_for_each_arm() -> None:
    write({"eevdf.txt": make("eevdf", 3500), "bore.txt": make("bore", 3000)})
    document = take("eevdf.txt", "bore.txt", "--pattern", r"Time: ([0-9.]+) (?<unit>ms)")
    assert verdicts(document) == {("imported", "value", "bore"): "better"}
    assert document["tables"][0]["metric"]["unit"] == "ms"
    assert document["account"][0].startswith("read as text, by its pattern (2 files): arms eevdf, bore (by file)")
    assert document["rerun"].startswith("runoff import eevdf.txt bore.txt --pattern 'Time: ")


def test_groups_with_names_say_what_a_number_is() -> None:
    write({"all.txt": make("eevdf", 3500) + make("bore", 3000)})
    pattern = r"Run (?<run>\d+) of (?<arm>\w+):\nTime: ([0-9.]+) (?<unit>ms)"
    document = take("all.txt", "--pattern", pattern)
    assert verdicts(document) == {("imported", "value", "bore"): "better"}
    assert "10 runs of each (by run)" in document["account"][0]


def test_a_pattern_takes_one_kind_of_number_after_another() -> None:
    write({"a.txt": make("a", 5), "b.txt": make("b", 6)})
    document = take("a.txt", "b.txt", "--pattern", r"(?<metric>Jitter) = (-?[0-9.]+) (?<unit>us)")
    assert values(document, "Jitter")["a", "imported"][0] == -46.9


def test_what_may_be_another_number_is_refused_with_its_line() -> None:
    write({"a.txt": "Time: 12,345 ms\n", "b.txt": "Time: 1 ms\nTime: 2 ms\n"})
    assert 'a.txt: line 1 has "12", cut out of' in refuse("a.txt", "--pattern", r"Time: ([0-9]+)")
    assert 'a.txt: line 1 has "12,345", in ms and not in' in refuse(
        "a.txt", "--pattern", "Time: ([0-9,]+)", "--thousands", ","
    )
    assert "b.txt: the pattern fits nowhere in it" in refuse("b.txt", "--pattern", "Tome: ([0-9]+)")
    assert "b.txt: the pattern has no group for the number" in refuse("b.txt", "--pattern", "Time: [0-9]+")
    assert "leave it or --format out" in refuse("b.txt", "--pattern", "(1)", "--format", "go")
    assert "--thousands goes with --pattern" in refuse("b.txt", "--thousands", ",")


def test_one_run_twice_is_refused_with_both_lines() -> None:
    write({"a.txt": make("a", 5) + make("a", 6)})
    said = refuse("a.txt", "--pattern", r"Run (?<run>\d+) of (?<arm>\w+):\nTime: ([0-9.]+) (?<unit>ms)")
    assert "run 0 has two values of value for a, imported: a.txt, line 2, and a.txt, line 32" in said


def test_thousands() -> None:
    write({"a.txt": "n: 12,345 us\nn: 12,400 us\n"})
    out = ask(cli, "import", "a.txt", "--pattern", "n: ([0-9,]+) (?<unit>us)", "--thousands", ",", "--out", "c").stdout
    assert "2 runs" in out
