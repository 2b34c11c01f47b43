"""Imported numbers as a campaign: which arms are compared, what readers of campaigns make of it, wrong input."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import ask
from scipy import stats

from runoff.campaign import directory
from runoff.campaign.journal.journal import Journal
from runoff.cli.main import cli
from runoff.errors import RunoffError, UsageError

DATA = Path(__file__).parents[2] / "data/imports"


def write_wide(path: Path, columns: dict[str, Sequence[float]]) -> str:
    rows = max(map(len, columns.values()))
    lines = [",".join(columns)]
    lines += [",".join(repr(float(each[i])) if i < len(each) else "" for each in columns.values()) for i in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def import_files(tmp_path: Path, *words: str) -> dict[str, Any]:
    """Return the report's document of a new campaign."""
    out = tmp_path / "c"
    document: dict[str, Any] = json.loads(ask(cli, "import", *words, "--out", out, "--json").stdout)
    assert json.loads(ask(cli, "report", out, "--json").stdout) == document
    return document


def describe(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, int]]:
    """Return how many samples each arm has, by workload and metric."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for table in document["tables"]:
        key = (table["workload"], table["metric"]["name"])
        found[key] = {arm["arm"]: (arm["summary"] or {"n": 0})["n"] for arm in table["arms"]}
    return found


def draw(*shifts: float, runs: int = 12) -> list[list[float]]:
    rng = np.random.default_rng(3)
    return [list(100 * np.exp(shift + 0.02 * rng.standard_normal(runs))) for shift in shifts]


def test_two_columns_get_the_verdict_of_welch(tmp_path: Path) -> None:
    base, changed = draw(0, 0.03)
    file = write_wide(tmp_path / "runs.csv", {"base": base, "changed": changed[:9]})
    document = import_files(tmp_path, file, "--better", "lower", "--unit", "ms")
    (table,) = document["tables"]
    (found,) = [arm for arm in table["arms"] if arm["arm"] == "changed"]
    comparison = found["against_baseline"]
    wanted = stats.ttest_ind(np.log(changed[:9]), np.log(base), equal_var=False)
    interval = wanted.confidence_interval(0.95)
    assert comparison["p"] == pytest.approx(wanted.pvalue, rel=1e-6)
    limits = {"low": 100 * np.expm1(interval.low), "high": 100 * np.expm1(interval.high)}
    assert comparison["percent_interval"] == pytest.approx(limits, rel=1e-6)
    assert found["verdict"] == ("worse" if wanted.pvalue < 0.05 else "unclear")
    assert (document["engine"], table["metric"]["unit"]) == ("imported", "ms")


def test_runs_of_one_block_are_compared_within_it(tmp_path: Path) -> None:
    base, changed = draw(0, 0.02, runs=10)
    level = np.exp(np.random.default_rng(4).standard_normal(10))
    rows = [
        f"{i},{arm},{float(values[i] * level[i])!r}" for i in range(10) for arm, values in (("a", base), ("b", changed))
    ]
    (tmp_path / "x.csv").write_text("\n".join(["block,arm,value", *rows]) + "\n")
    (table,) = import_files(tmp_path, str(tmp_path / "x.csv"), "--better", "lower")["tables"]
    (comparison,) = [arm["against_baseline"] for arm in table["arms"] if arm["arm"] == "b"]
    assert comparison["percent"] == pytest.approx(100 * np.expm1(np.mean(np.log(changed) - np.log(base))))
    assert comparison["n"] == 10


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["hyperfine-two.json"], {("imported", "time_s"): {"sleep 0.01": 10, "sleep 0.012": 10}}),
        (
            ["hyperfine-old.json", "hyperfine-new.json"],
            {
                ("sleep 0.01", "time_s"): {"hyperfine-old": 8, "hyperfine-new": 12},
                ("sleep 0.02", "time_s"): {"hyperfine-old": 8},
                ("sleep 0.03", "time_s"): {"hyperfine-new": 12},
            },
        ),
        (
            ["--cases", "arms", "hyperfine-old.json", "hyperfine-two.json"],
            {
                ("hyperfine-old", "time_s"): {"sleep 0.01": 8, "sleep 0.02": 8},
                ("hyperfine-two", "time_s"): {"sleep 0.01": 10, "sleep 0.012": 10},
            },
        ),
        (
            ["a=fio-1.json", "a=fio-2.json", "b=fio-1b.json", "b=fio-2b.json"],
            {("seqread", "read_iops"): {"a": 2, "b": 2}},
        ),
        (["before=perf-append.csv"], {("imported", "task_clock"): {"before": 5}}),
        (["criterion"], {("fib 10", "time_ns"): {"criterion": 10}}),
        (["--cases", "arms", "criterion"], {("imported", "time_ns"): {"fib 10": 10, "sums/slice/1000": 10}}),
    ],
)
def test_who_is_compared_with_whom(tmp_path: Path, words: list[str], expected: dict[Any, dict[str, int]]) -> None:
    for number in (1, 2):
        (tmp_path / f"fio-{number}b.json").write_text((DATA / f"fio-{number}.json").read_text() + "\n")
    located = []
    for word in words:
        name, equals, file = word.rpartition("=")
        place = DATA if (DATA / file).exists() else tmp_path
        located.append(f"{name}{equals}{place / file}" if file.endswith((".json", ".csv", "criterion")) else word)
    found = describe(import_files(tmp_path, *located))
    assert {key: {arm: n for arm, n in found[key].items() if n} for key in expected} == expected


def test_go_and_google_compare_files(tmp_path: Path) -> None:
    found = describe(import_files(tmp_path, f"old={DATA / 'go-old.txt'}", f"new={DATA / 'go-new.txt'}"))
    assert found["Upper", "ns_per_op"] == {"old": 6, "new": 6}
    document = import_files(tmp_path / "g", f"old={DATA / 'google-old.json'}", f"new={DATA / 'google-new.json'}")
    assert document["baseline"] == "old"
    assert all(counts == {"old": 6, "new": 6} for counts in describe(document).values())


def test_the_baseline_can_be_named(tmp_path: Path) -> None:
    file = write_wide(tmp_path / "runs.csv", dict(zip("abc", draw(0, 0.1, 0.2), strict=True)))
    assert import_files(tmp_path, file, "--better", "lower", "--baseline", "c")["arms"] == ["c", "a", "b"]


def test_units_of_time_are_made_one(tmp_path: Path) -> None:
    for name, unit, factor in (("a", "s", 1.0), ("b", "ms", 1000.0)):
        rows = [f"{name},{value * factor!r},{unit}" for value in (0.0011, 0.0012, 0.0013)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["arm,value,unit", *rows]) + "\n")
    (table,) = import_files(tmp_path, str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))["tables"]
    assert [arm["summary"]["mean"] for arm in table["arms"]] == pytest.approx([0.0012, 0.0012], rel=1e-12)


def test_an_imported_campaign_is_complete_in_itself(tmp_path: Path) -> None:
    file = write_wide(tmp_path / "runs.csv", dict(zip("ab", draw(0, 0.1), strict=True)))
    before = import_files(tmp_path, file, "--better", "lower")
    content = Path(file).read_bytes()
    Path(file).unlink()
    assert json.loads(ask(cli, "report", tmp_path / "c", "--json").stdout) == before
    assert [path.read_bytes() for path in (tmp_path / "c/files").iterdir()] == [content]
    assert (tmp_path / "c/report.html").exists()
    with Journal.open(tmp_path / "c", write=False) as journal:
        assert journal.fact("imported").command == ["runoff", "import", file, "--better", "lower"]


def test_every_reader_of_campaigns_takes_it(tmp_path: Path) -> None:
    file = write_wide(tmp_path / "runs.csv", dict(zip("abc", draw(0, 0.1, 0.001), strict=True)))
    import_files(tmp_path, file, "--better", "lower", "--unit", "ms")
    out = tmp_path / "c"
    gate = json.loads(ask(cli, "gate", out, "--max-regression", "5%", "--json").stdout)
    assert gate["outcome"] == "regressed"
    told = ask(cli, "gate", out, "--max-regression", "5%").stdout
    assert "12 runs" in told
    assert "block" not in told
    plan = ask(cli, "blocks", out).stdout
    assert "block" not in plan
    assert "imported, value: b: noise" in plan
    for form in (["--mail"], ["--markdown"], ["--verbose"], *(["--table", name] for name in ("classic", "graysky"))):
        assert "imported" in ask(cli, "report", out, *form).stdout
    ask(cli, "report", out, "--csv", tmp_path / "again.csv")
    again = import_files(tmp_path / "again", str(tmp_path / "again.csv"))
    assert [table["arms"] for table in again["tables"]] != []
    rows = [row[:11] + row[15:] for row in csv.reader((tmp_path / "again.csv").open())]
    (tmp_path / "older.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    assert "started" not in rows[0]
    assert import_files(tmp_path / "older", str(tmp_path / "older.csv"))["tables"] == again["tables"]


def test_what_takes_samples_refuses_it(tmp_path: Path) -> None:
    for name, shift in (("c", 0.1), ("d", 0.2)):
        file = write_wide(tmp_path / f"{name}.csv", dict(zip("ab", draw(0, shift), strict=True)))
        ask(cli, "import", file, "--better", "lower", "--out", tmp_path / name)
    with pytest.raises(UsageError, match="was imported, and takes no samples"):
        ask(cli, "resume", tmp_path / "c")


@pytest.mark.parametrize(
    ("files", "words", "why"),
    [
        ({"a.csv": "a,b\n1,2\n3,4\n"}, ["a.csv"], "nothing says whether more or less of value is better"),
        ({"a.csv": "a,b\n1,2\n"}, ["a.csv", "--better", "lower"], "there is one run of each arm"),
        ({"a.csv": "a,b\n1,2\n3,4\n"}, ["a.csv", "--better", "up"], "--better up: give lower, higher or none"),
        ({"a.csv": "a,b\n1,2\n3,4\n"}, ["a.csv", "--better", "x=lower"], "there is no metric 'x'; there are: value"),
        ({"a.csv": "a,b\n1,2\n3,4\n"}, ["a.csv", "--better", "lower", "--better", "higher"], "is given twice"),
        ({"a.csv": "a,b\n1,2\n3,4\n"}, ["a.csv", "--better", "lower", "--baseline", "x"], "there is no such arm"),
        ({"a.csv": "a,b\n1,2\n3,4\n"}, ["a.csv", "--columns", "who=a"], "--columns who: the names are arm, workload"),
        ({"a.csv": "a,b\n1,2\n3,x\n"}, ["a.csv", "--better", "lower"], "line 3, column 'b', has 'x', which is not a"),
        ({"a.csv": "a\tb\n1\t2\n3\t5_071\n"}, ["a.csv", "--better", "lower"], "'5_071', which is not a number"),
        ({"a.csv": "a,b\n1,2\n3,inf\n"}, ["a.csv", "--better", "lower"], "has 'inf', which is not a number"),
        ({"a.csv": "a,b\n1,2\n3,nan\n"}, ["a.csv", "--better", "lower"], "has 'nan', which is not a number"),
        ({"a.csv": 'a,b\n1,2\n3,"5071,0"\n'}, ["a.csv", "--better", "lower"], "write it with a point and without"),
        ({"a.csv": "arm,value,unit\na,1,s\na,2,J\n"}, ["a.csv"], "line 3: value is in J and before in s"),
        (
            {"a.csv": "arm,value,block\na,1,1\na,2,1\n"}, ["a.csv", "--better", "lower"],
            "block 1 has two values of value for a, imported, and a block is one run of each: a.csv, line 2, ",
        ),
        (
            {"a.json": '{"results": [{"command": "x", "mean": 1, "times": [1, "y"]}]}'}, ["a.json"],
            "results[0].times[1] has 'y'",
        ),
        (
            {"x/r.txt": "BenchmarkA 1 5 ns/op\n", "y/r.txt": "BenchmarkA 1 6 ns/op\n"}, ["x/r.txt", "y/r.txt"],
            "would both be the arm r: give them names",
        ),
        (
            {"a.csv": "arm,value,unit\na,1,ms\na,2,ms\n", "b.csv": "arm,value,unit\nb,1,J\nb,2,J\n"},
            ["a.csv", "b.csv"], "value is in J and before in ms",
        ),
        (
            {"a.csv": "arm,value,block\na,1,1\na,2,2\n", "b.csv": "arm,value\nb,1\nb,2\n"},
            ["a.csv", "b.csv", "--better", "lower"], "some of the files have blocks and others not",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_named_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    with pytest.raises(RunoffError) as caught:
        ask(cli, "import", *words, "--out", "c")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("c").exists()


def test_one_run_is_refused_with_what_the_format_says(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is one run of each arm.*with -r perf keeps the mean alone"):
        ask(cli, "import", DATA / "perf-r5.csv", "--out", tmp_path / "c")


def test_a_campaign_that_is_there_is_not_touched(tmp_path: Path) -> None:
    file = write_wide(tmp_path / "runs.csv", dict(zip("ab", draw(0, 0.1), strict=True)))
    import_files(tmp_path, file, "--better", "lower")
    before = directory.read_results(tmp_path / "c")
    with pytest.raises(UsageError, match="is not empty"):
        ask(cli, "import", file, "--better", "higher", "--out", tmp_path / "c")
    assert directory.read_results(tmp_path / "c") == before
