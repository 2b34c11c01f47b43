"""Imported numbers of several machines are judged as merged campaigns are: each machine by itself, then all."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_runner import ask
from imported import refuse, rows, take, verdicts, write
from scipy import stats

from runoff.cli.main import cli
from runoff.errors import UsageError

SPEEDS = {"mars": 1.0, "venus": 7.0, "pluto": 30.0}


@pytest.fixture(autouse=True)
def _work_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def draw(shift: float = 0.1, seed: int = 1) -> dict[str, dict[str, np.ndarray]]:
    """Return times by machine and arm; the arms have other numbers of runs on each machine."""
    rng = np.random.default_rng(seed)
    return {
        name: {
            arm: speed * np.exp(change + rng.normal(0, 0.01, count))
            for arm, change, count in (("old", 0.0, 4 + 2 * place), ("new", shift, 12 - 2 * place))
        }
        for place, (name, speed) in enumerate(SPEEDS.items())
    }


def write_table(name: str, drawn: dict[str, dict[str, np.ndarray]], column: str = "machine") -> None:
    lines = [(m, arm, repr(float(v))) for m, arms in drawn.items() for arm, values in arms.items() for v in values]
    write({name: rows(f"{column},arm,value", *lines)})


def test_a_column_of_machines_makes_the_machine_the_unit() -> None:
    drawn = draw()
    write_table("t.csv", drawn)
    document = take("t.csv", "--better", "lower")
    assert document["machines"] == list(SPEEDS)
    assert "on 3 machines" in document["account"][0]
    changes = [np.mean(np.log(arms["new"])) - np.mean(np.log(arms["old"])) for arms in drawn.values()]
    (arm,) = [arm for arm in document["tables"][0]["arms"] if arm["arm"] == "new"]
    low, high = stats.t.interval(0.95, 2, np.mean(changes), stats.sem(changes))
    wanted = {"low": 100 * np.expm1(low), "high": 100 * np.expm1(high)}
    assert arm["against_baseline"]["percent_interval"] == pytest.approx(wanted, rel=1e-6)
    assert arm["against_baseline"]["between"]["machines"] == 3
    assert arm["verdict"] == "worse"
    assert json.loads(ask(cli, "report", "c", "--json").stdout) == document


def test_unequal_numbers_of_runs_on_fast_and_slow_machines_are_no_difference() -> None:
    write_table("t.csv", draw(shift=0.0))
    assert verdicts(take("t.csv", "--better", "lower")) == {("imported", "value", "new"): "small"}


def test_files_can_be_given_a_machine_each() -> None:
    words = []
    for machine, arms in draw().items():
        for arm, values in arms.items():
            name = f"{machine}-{arm}.csv"
            write({name: rows("seconds", *((repr(float(v)),) for v in values))})
            words += [f"{arm}={name}", "--machine", f"{machine}={name}"]
    document = take(*words, "--columns", "metrics=seconds", "--better", "lower", "--unit", "s")
    assert document["machines"] == list(SPEEDS)
    assert verdicts(document) == {("imported", "seconds", "new"): "worse"}
    assert "--machine mars=mars-old.csv" in document["rerun"]


def test_a_key_of_a_file_can_be_the_machine() -> None:
    words = []
    for machine, arms in draw().items():
        for arm, values in arms.items():
            lines = "".join(f"BenchmarkA 10 {value:.9g} ns/op\n" for value in values)
            write({f"{machine}-{arm}": f"cpu: {machine}\n{lines}"})
            words.append(f"{arm}={machine}-{arm}")
    document = take(*words, "--columns", "machine=cpu")
    assert document["machines"] == list(SPEEDS)
    assert verdicts(document) == {("A", "ns_per_op", "new"): "worse"}


def test_copies_are_not_another_machine() -> None:
    mars = draw()["mars"]
    write_table("t.csv", {"mars": mars, "copy": mars})
    said = refuse("t.csv", "--better", "lower")
    assert "mars and copy have 16 of 16 runs in common, equal to the last digit, and copies are not evidence" in said


def test_a_machine_is_said_of_all_numbers_or_of_none() -> None:
    write({"a.csv": rows("x", (1,), (2,)), "b.csv": rows("x", (3,), (4,))})
    words = ("a.csv", "b.csv", "--columns", "metrics=x", "--better", "lower")
    said = refuse(*words, "--machine", "mars=a.csv")
    assert "some numbers are of the machine mars and of others nothing says the machine" in said
    assert "--machine mars=z.csv: that is not one of the files" in refuse(*words, "--machine", "mars=z.csv")
    for wrong in ("mars", "=a.csv", "mars="):
        assert f"--machine {wrong}: give NAME=FILE" in refuse(*words, "--machine", wrong)


def test_imports_of_each_machine_can_be_merged() -> None:
    drawn = draw()
    write_table("t.csv", drawn)
    wanted = take("t.csv", "--better", "lower")
    for machine, arms in drawn.items():
        write_table(f"{machine}.csv", {machine: arms}, "where")
        ask(cli, "import", f"{machine}.csv", "--better", "lower", "--columns", "ignore=where", "--out", machine)
    ask(cli, "merge", *drawn, "--out", "m")
    merged = json.loads(ask(cli, "report", "m", "--json").stdout)
    assert merged["machines"] == wanted["machines"]
    assert [table["arms"] for table in merged["tables"]] == [table["arms"] for table in wanted["tables"]]
    write({"more.csv": rows("arm,value", ("old", 1), ("old", 2), ("newer", 2), ("newer", 3))})
    ask(cli, "import", "more.csv", "--better", "lower", "--out", "other")
    with pytest.raises(UsageError, match="arms"):
        ask(cli, "merge", "mars", "other", "--out", "x")
    with pytest.raises(UsageError, match="is of several machines already"):
        ask(cli, "merge", "c", "mars", "--out", "x")
