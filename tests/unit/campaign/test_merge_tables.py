"""Every table of a merged campaign is of one machine, or has the machine as its unit."""

import json
import re
from collections import Counter
from pathlib import Path

import made_campaigns
import pytest
from cli_runner import run
from made_campaigns import noisy

from runoff.report.forms import HISTORIC

SPEEDS = {"slow": 20.0, "fast": 2.0, "usual": 5.0}
WORKS = ("counters:n=1,count=1000,passes=1", "counters:n=2,count=1000,passes=1")


def make(place: Path, name: str, **settings: object) -> Path:
    made_campaigns.MACHINE_ID = f"id of {name}"
    number = list(SPEEDS).index(name)
    change = -0.02 * (number + 1)
    values = noisy(0, change, sd=0.004, mean=SPEEDS[name], seed=number)
    usual = {"workloads": WORKS, "loads": ("none", "process"), "blocks": 5, "seed": number + 1}
    return made_campaigns.made(
        place / name,
        lambda cell: {**values(cell), "elapsed_s": 2.0, "ideal_ratio": 1.0 + values(cell)["time_s"] / 1000},
        **usual,
        **settings,
    )


@pytest.fixture
def merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(made_campaigns, "MACHINE_ID", "")
    run("merge", *(make(tmp_path, name) for name in SPEEDS), "--out", tmp_path / "all")
    return tmp_path / "all"


@pytest.mark.parametrize("table", [name for name in HISTORIC if name != "machines"])
def test_historic_tables_are_those_of_each_machine(merged: Path, tmp_path: Path, table: str):
    text = run("report", merged, "--table", table).stdout
    parts = re.split(r"(?m)^On (\w+):\n\n", text)[1:]
    assert parts[::2] == list(SPEEDS)
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        alone = run("report", tmp_path / name, "--table", table).stdout
        assert numbers(part) == numbers(alone)


def numbers(text: str) -> list[list[str]]:
    """The words of each line with a number that is measured, without what is told of voids and machines."""
    return sorted(line.split() for line in text.splitlines() if re.search(r"\d\.\d", line) and "runoff" not in line)


def test_the_mean_over_workloads_has_the_machine_as_its_unit(merged: Path):
    document = json.loads(run("report", merged, "--json").stdout)
    bfs = document["overall"]["arms"]["bfs"]
    assert bfs["between"]["machines"] == 3
    # -2, -4 and -6 %: three machines are a wide interval, fifteen blocks would be a narrow one.
    assert bfs["percent_interval"]["high"] - bfs["percent_interval"]["low"] > 8


def test_rows_of_several_machines_are_imported_as_theirs(merged: Path, tmp_path: Path):
    rows = tmp_path / "rows.csv"
    run("report", merged, "--csv", rows)
    assert rows.read_text().startswith("machine,")
    before = json.loads(run("report", merged, "--json").stdout)
    after = json.loads(run("import", rows, "--out", tmp_path / "imported", "--json").stdout)
    assert after["machines"] == before["machines"] == ["slow", "fast", "usual"]
    tables = [
        {(table["workload"], table["load"], table["metric"]["name"]): table for table in each["tables"]}
        for each in (before, after)
    ]
    measured = {place for place, table in tables[0].items() if any(arm["summary"] for arm in table["arms"])}
    assert measured == {place for place, table in tables[1].items() if any(arm["summary"] for arm in table["arms"])}
    for place in measured:
        for key in ("arms", "machines", "alpha", "judged_with"):
            assert tables[0][place][key] == tables[1][place][key]


def test_the_table_of_a_merged_directory_has_the_machine(merged: Path):
    rows = (merged / "runs.csv").read_text().splitlines()
    assert {line.split(",")[0] for line in rows[1:]} == set(SPEEDS)


def test_quantiles_and_every_run_are_those_of_each_machine(merged: Path, tmp_path: Path):
    page = (merged / "report.html").read_text()
    for name in SPEEDS:
        run("report", tmp_path / name, "--html", tmp_path / "alone.html")
        alone = (tmp_path / "alone.html").read_text()
        mine = "".join(re.findall(rf"<h4>{name}</h4>(.*?)(?=<h4>|</details>)", page, re.S))
        assert list_medians(mine) == list_medians(alone)
    assert len(list_medians(page)) == len(SPEEDS) * len(list_medians(alone))
    for table in json.loads(run("report", merged, "--json").stdout)["tables"]:
        for summary in filter(None, (arm["summary"] for arm in table["arms"])):
            assert summary["median"] is summary["maximum"] is summary["median_ci"] is None
        each = [arm["summary"] for arms in table["machines"].values() for arm in arms]
        assert all(summary["median"] > 0 for summary in each if summary)


def list_medians(page: str) -> list[list[str]]:
    """The rows of all tables of quantiles on a page."""
    tables = re.findall(r"<th scope=\"col\">median</th>.*?<tbody>(.*?)</tbody>", page, re.S)
    return [re.findall(r"<td>([^<]*)", row) for table in tables for row in table.split("<tr>")[1:]]


def test_each_picture_of_values_is_of_one_machine(merged: Path, tmp_path: Path):
    run("report", merged, "--figures", tmp_path / "pictures")
    names = {path.name for path in (tmp_path / "pictures").glob("*values.svg")}
    assert names
    counts = Counter(name.removesuffix("-values.svg").rpartition("-")[2] for name in names)
    assert counts == dict.fromkeys(SPEEDS, len(names) // len(SPEEDS))
    page = (merged / "report.html").read_text()
    assert len(re.findall(r"Dots: samples", page)) == len(names)


def test_only_one_machine_has_a_middle_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(made_campaigns, "MACHINE_ID", "")
    for number, name in enumerate(SPEEDS):
        made_campaigns.MACHINE_ID = f"id of {name}"
        values = noisy(0, -0.02, sd=0.004, mean=SPEEDS[name], seed=number, metric="wakeup_p99_us")
        made_campaigns.made(
            tmp_path / name,
            lambda cell, values=values: {**values(cell), "request_p99_us": 100.0 + cell.position},
            workloads=("schbench",), blocks=5, seed=number + 1,
        )  # fmt: skip
    assert "median" in run("report", tmp_path / "slow").stdout
    run("merge", *(tmp_path / name for name in SPEEDS), "--out", tmp_path / "all")
    text = (
        run("report", tmp_path / "all").stdout.partition("VERDICT")[0]
        + run("report", tmp_path / "all", "--mail").stdout
    )
    assert "its 95 % CI" in text
    assert "median" not in text


def test_each_machine_has_its_own_seed_and_command(merged: Path):
    text = run("report", merged, "--mail").stdout
    assert re.search(r"drawn from\s+a seed of each machine", text)
    commands = json.loads(run("report", merged, "--json").stdout)["rerun"].splitlines()
    assert [line.partition("  # ")[2] for line in commands] == list(SPEEDS)
    for number, line in enumerate(commands, 1):
        assert f"--seed {number} " in line
    page = (merged / "report.html").read_text()
    assert '<th scope="col">SD</th>' not in page
    assert "order seed" not in page
    assert "drawn from seed" not in page
