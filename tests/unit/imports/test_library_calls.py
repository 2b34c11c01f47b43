"""What the commands import, gate and history do can be done by calls."""

import json
from pathlib import Path

import pytest
from cli_runner import run
from imported import rows, write

import runoff
from runoff.errors import UsageError
from runoff.imports.identity import Wishes
from runoff.results import Results
from runoff.statistics.gate import Outcome


@pytest.fixture(autouse=True)
def _work_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(name: str, factor: float) -> Results:
    """Import a table with two arms, of which the second takes ``factor`` times as long."""
    lines = [(arm, (10 + run % 7 / 50) * (factor if arm == "b" else 1)) for arm in "ab" for run in range(12)]
    write({f"{name}.csv": rows("arm,value", *lines)})
    return runoff.import_files([f"{name}.csv"], name, Wishes(better={"": "lower"}, units={"": "s"}))


def test_a_call_imports_what_the_command_does() -> None:
    results = make("one", 1.2)
    told = json.loads(run("import", "one.csv", "--better", "lower", "--unit", "s", "--out", "two", "--json").stdout)
    assert json.loads(runoff.render(runoff.analyse(results), "json"))["tables"] == told["tables"]
    assert runoff.load("one").account == results.account
    with pytest.raises(UsageError, match="names are table"):
        runoff.import_files(["one.csv"], "three", format="nosuch")
    assert not Path("three").exists()


def test_a_call_judges_and_draws_what_the_commands_do() -> None:
    campaigns = {f"n{number:02}": make(f"n{number:02}", 1.0 if number < 8 else 1.3) for number in range(16)}
    gate = runoff.judge(runoff.analyse(campaigns["n09"]), 0.05)
    assert gate.outcome is Outcome.REGRESSED
    assert runoff.judge(runoff.analyse(campaigns["n01"]), 0.05).outcome is Outcome.FINE
    assert run("gate", "n09", "--max-regression", "5%", expect=1).stdout.startswith("Regressed")
    history = runoff.draw_history(campaigns, order="given")
    changes = {series.heading: [change.first for change in series.changes] for series in history.series}
    assert changes == {"imported, a": [], "imported, b": [8]}
