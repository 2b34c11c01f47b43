"""Tables: what their columns stand for, what varies within an arm, which runs count, in which units."""

from pathlib import Path

import pytest
from cli_runner import ask
from imported import refuse, rows, take, take_counts, values, verdicts, write
from made_campaigns import made

from runoff.cli.main import cli


@pytest.fixture(autouse=True)
def _work_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LONG = rows(
    "block,arm,workload,value,unit",
    *((block, arm, "hackbench", round(base * (1 + block / 100 + (7 * block + len(arm)) % 5 / 1000), 4), "s")
      for block in range(1, 9) for arm, base in (("eevdf", 10.0), ("bore", 12.0))[:: -1 if block % 2 else 1]),
)  # fmt: skip


def test_a_long_table_in_another_order_of_columns() -> None:
    write({"long.csv": LONG})
    document = take("long.csv")
    assert document["account"][0].startswith("read as a table with a row for each number: arms bore, eevdf (by arm)")
    assert verdicts(document) == {("hackbench", "value", "eevdf"): "better"}
    assert take_counts(document) == {"bore": 8, "eevdf": 8}


@pytest.mark.parametrize("header", ["Run_ID", "trial", "RunID", "iteration", "run-no", "#"])
def test_a_column_that_numbers_the_runs_is_not_an_arm(header: str) -> None:
    write({"t.csv": rows(f"{header},eevdf,bore", (1, 10.0, 11.0), (2, 10.1, 11.1), (3, 9.9, 10.9))})
    document = take("t.csv", "--better", "lower")
    assert (document["baseline"], document["arms"]) == ("eevdf", ["eevdf", "bore"])
    assert verdicts(document) == {("imported", "value", "bore"): "worse"}


@pytest.mark.parametrize(("header", "column"), [("threads", (1, 2, 4, 8)), ("seconds", (0.5, 1.0, 1.5, 2.0))])
def test_a_first_column_that_counts_is_refused(header: str, column: tuple[float, ...]) -> None:
    write({"t.csv": rows(f"{header},eevdf,bore", *((x, 100 + 3 * x * x, 101 - x) for x in column))})
    said = refuse("t.csv", "--better", "lower")
    assert said.startswith(f"t.csv: its first column, '{header}', counts")
    for way in (f"run={header}", f"workload={header}", f"ignore={header}", f"arms={header}+eevdf+bore"):
        assert way in said
    document = take("t.csv", "--better", "lower", "--columns", f"run={header}")
    assert document["arms"] == ["eevdf", "bore"]


def test_what_varies_within_an_arm_is_a_workload() -> None:
    lines = []
    for kernel, factor, counts in (("old", 1.0, (6, 20)), ("new", 0.95, (20, 6))):
        for mode, base, count in (("ro", 1500, counts[0]), ("rw", 1000, counts[1])):
            lines += [(kernel, mode, run, round(base * factor + run % 5, 1)) for run in range(count)]
    write({"t.csv": rows("kernel,mode,run,tps", *lines)})
    document = take("t.csv", "--columns", "arm=kernel,value=tps", "--better", "higher")
    assert verdicts(document) == {("mode=ro", "value", "new"): "worse", ("mode=rw", "value", "new"): "worse"}
    assert "(by mode, which varies)" in document["account"][0]


def test_several_columns_can_be_the_workload_and_all_others_metrics() -> None:
    lines = [
        (run, arm, mode, clients, round(factor * clients + run / 100, 3), round(900 / factor + run, 1), "")
        for arm, factor in (("CFS", 1.0), ("EEVDF", 1.2))
        for mode in ("ro", "rw")
        for clients in (1, 16)
        for run in range(6)
    ]
    write({"t.csv": rows("Run_ID,Scheduler,mode,clients,Avg_Latency_us,tps,comment", *lines)})
    document = take("t.csv", "--columns", "arm=Scheduler,workload=mode+clients,metrics=*", "--better", "tps=higher")
    found = verdicts(document)
    assert found["mode=ro,clients=16", "Avg_Latency_us", "EEVDF"] == "worse"
    assert found["mode=rw,clients=1", "tps", "EEVDF"] == "worse"
    assert len(found) == 8
    Path("c").rename("first")
    assert verdicts(take("t.csv", "--columns", "arm=Scheduler", "--better", "tps=higher")) == found


def test_a_table_without_arms_names_the_words_that_it_needs() -> None:
    write({"t.csv": rows("Run_ID,Scheduler,avg,max", (1, "CFS", 2.0, 3.0), (2, "EEVDF", 2.0, 3.5))})
    said = refuse("t.csv")
    assert "its column 'Scheduler' has 'CFS', which is not a number" in said
    assert "--columns arm=Scheduler,metrics=*" in said


def test_a_column_that_describes_each_run_is_asked_for() -> None:
    lines = [(seed, arm, 10 + seed / 7) for arm in "ab" for seed in (11, 12, 13, 14)]
    write({"t.csv": rows("seed,arm,value", *lines)})
    said = refuse("t.csv", "--better", "lower")
    assert said.startswith("seed has another value in most numbers of a (11, 12, 13, 14)")
    assert take_counts(take("t.csv", "--better", "lower", "--columns", "run=seed")) == {"a": 4, "b": 4}


def test_two_values_in_one_place_are_refused_with_both_lines() -> None:
    write({"t.csv": rows("run,arm,value", (1, "a", 1), (2, "a", 2), (1, "b", 3), (1, "a", 4))})
    said = refuse("t.csv", "--better", "lower")
    assert "run 1 has two values of value for a, imported: t.csv, line 2, and t.csv, line 5" in said


def test_files_with_arms_inside_are_workloads_unless_they_have_one_name() -> None:
    write({"mon.csv": rows("a,b", (1, 2), (1.1, 2.1)), "fri.csv": rows("a,b", (5, 6), (5.1, 6.1))})
    words = ("--better", "lower", "--cases", "arms")
    assert sorted({work for _, work in values(take("mon.csv", "fri.csv", *words))}) == ["fri", "mon"]
    Path("c").rename("first")
    assert set(values(take("t=mon.csv", "t=fri.csv", *words))) == {("a", "t"), ("b", "t")}


@pytest.mark.parametrize(
    ("unit", "metric", "side"),
    [
        ("errors/s", "", "lower"), ("1/s", "missed deadlines", "lower"), ("faults/sec", "", "lower"),
        ("ops/s", "", "higher"), ("MB/s", "", "higher"), ("us", "", "lower"), ("fps", "", None), ("ms/op", "", "lower"),
        ("frobs/s", "", None), ("s", "time between failures", None), ("IOPS", "", None), ("switches/s", "", "lower"),
    ],
)  # fmt: skip
def test_directions_are_known_or_asked_for(unit: str, metric: str, side: str | None) -> None:
    name = metric or "value"
    write({"t.csv": rows("arm,metric,value,unit", *(("ab"[run % 2], name, 100 + run, unit) for run in range(6)))})
    if side is None and unit not in ("fps", "IOPS"):
        assert f"nothing says whether more or less of {name} is better" in refuse("t.csv")
        return
    (table,) = take("t.csv")["tables"]
    assert table["metric"]["direction"] == (side or "higher")


def test_a_direction_for_all_never_turns_a_known_one_around() -> None:
    lines = [(arm, 100 + run, 900 - run, 1.5 * run) for arm in "ab" for run in range(4)]
    write({"t.csv": rows("arm,avg_us,tps,oddity", *lines)})
    said = refuse("t.csv", "--better", "lower")
    assert said.startswith(
        "--better lower: of tps higher is better, as far as is known; if it is not, say --better tps="
    )
    document = take("t.csv", "--better", "lower", "--better", "tps=higher")
    assert [(table["metric"]["name"], table["metric"]["direction"]) for table in document["tables"]] == [
        ("avg_us", "lower"), ("tps", "higher"), ("oddity", "lower"),
    ]  # fmt: skip


def test_a_unit_for_all_is_for_what_has_none() -> None:
    write({"t.csv": rows("arm,avg_us,speed", *((arm, 100 + run, 900 - run) for arm in "ab" for run in range(4)))})
    document = take("t.csv", "--unit", "MB/s")
    assert [(table["metric"]["name"], table["metric"]["unit"]) for table in document["tables"]] == [
        ("avg_us", "us"), ("speed", "MB/s"),
    ]  # fmt: skip


def test_failed_runs_of_a_table_are_void() -> None:
    lines = [("a", 10, "ok"), ("a", 10.1, "ok"), ("a", 99, "failed"), ("b", 9, "ok"), ("b", 9.1, "completed")]
    for header in ("valid", "status"):
        write({"t.csv": rows(f"arm,value,{header}", *lines)})
        document = take("t.csv", "--better", "lower")
        assert take_counts(document) == {"a": 2, "b": 2}
        assert [sample["reason"] for sample in document["samples"] if not sample["valid"]] == [f"{header}: failed"]
        assert "4 of 5 numbers are kept; 1 do not count (1 x" in document["account"][1]
        Path("c").rename(header)
    write({"t.csv": rows("arm,value,failed", *((arm, value, 0) for arm, value, _ in lines), ("b", 9, 3))})
    assert "line 7 has '3' as failed, which does not say whether the run counts" in refuse("t.csv", "--better", "lower")
    write({"t.csv": rows("arm,value,status", *lines, ("b", 9, "meh"))})
    assert "line 7 has 'meh' as status, which does not say whether the run counts" in refuse(
        "t.csv", "--better", "lower"
    )


def test_an_empty_field_is_a_void_sample() -> None:
    write({"t.csv": rows("a,b", (1, 2), (1.1, ""), (1.2, 2.2))})
    document = take("t.csv", "--better", "lower")
    assert take_counts(document) == {"a": 3, "b": 2}
    assert [sample["reason"] for sample in document["samples"] if not sample["valid"]] == ["no value"]


def test_units_of_one_kind_are_converted() -> None:
    lines = [("a", 1100, "\u00b5s"), ("a", 1.2, "msec"), ("b", 0.0012, "sec"), ("b", 1300, "us")]
    write({"t.csv": rows("arm,value,unit", *lines)})
    document = take("t.csv")
    assert document["tables"][0]["metric"]["unit"] == "us"
    assert values(document) == {("a", "imported"): [1100, 1200], ("b", "imported"): [1200, 1300]}


def test_a_report_as_csv_comes_back_with_its_voids() -> None:
    lines = [(block, arm, 10 + block / 9 + (arm == "b"), "failed" if block == 3 and arm == "b" else "ok")
             for block in range(1, 7) for arm in "ab"]  # fmt: skip
    for header in ("block", "run"):
        write({"t.csv": rows(f"{header},arm,value,status", *lines)})
        before = take("t.csv", "--better", "lower", "--unit", "s")
        ask(cli, "report", "c", "--csv", "again.csv")
        Path("c").rename(f"{header}-1")
        after = take("again.csv")
        Path("c").rename(f"{header}-2")
        assert after["tables"] == before["tables"]
        assert [(s["block"], s["arm"], s["valid"], s["reason"], s["metrics"]) for s in after["samples"]] == [
            (s["block"], s["arm"], s["valid"], s["reason"], s["metrics"]) for s in before["samples"]
        ]


def test_samples_for_warming_up_are_left_out_of_a_report_as_csv(tmp_path: Path) -> None:
    """They are slower, and would be judged where nobody left them out."""
    place = made(tmp_path / "warm", lambda cell: {"time_s": 99.0 if cell.block < 0 else 10 + cell.block / 9}, warmup=2)
    ask(cli, "report", place, "--csv", "own.csv")
    assert "99" in Path("own.csv").read_text()
    imported = take("own.csv")
    assert max(sample["metrics"]["time_s"] for sample in imported["samples"]) < 12
    assert len(imported["samples"]) == 20
    assert "4 are left out (4 x for warming up)" in " ".join(imported["account"])


def test_plain_forms_of_tables() -> None:
    write({
        "bars.md": "| run | a | b |\n|----:|---|---|\n| 1 | 10 | **11 ms** |\n| 2 | 10.5 | 11.5 ms |\n",
        "blanks.txt": "run  a  b\n1   10   11\n2   10.5 11.5\n",
        "commas.csv": "run;a;b\n1;10,0;11,0\n2;10,5;11,5\n",
    })  # fmt: skip
    for name in ("bars.md", "blanks.txt", "commas.csv"):
        words = ["--unit", "ms"] if name == "bars.md" else []
        document = take(name, "--better", "lower", *words)
        assert values(document) == {("a", "imported"): [10, 10.5], ("b", "imported"): [11, 11.5]}, name
        Path("c").rename(name.partition(".")[0])
    for first, second in (("1.200", "1,300"), ("1.5", "2,75"), ("1,200", "1,300")):
        write({"both.csv": f"a;b\n1,5;{first}\n2,5;{second}\n"})
        assert "has a comma of thousands or of decimals" in refuse("both.csv", "--better", "lower")


def test_columns_without_a_name_are_left_out_if_they_are_empty() -> None:
    write({"t.csv": "a,b,,\n1,2,,\n1.1,2.1,,\n", "u.csv": "a,b,,\n1,2,3,4\n1.1,2.1,3,4\n"})
    assert take("t.csv", "--better", "lower")["arms"] == ["a", "b"]
    Path("c").rename("first")
    assert "2 of its columns have no name" in refuse("u.csv", "--better", "lower")


def test_arms_without_a_common_workload_are_not_compared() -> None:
    arms = [f"pol:policy={name}" for name in ("fifo", "idle", "batch")]
    write({"t.csv": rows("arm,workload,value", *((arm, arm[-4:], 10 + run / 9) for arm in arms for run in range(4)))})
    verdict = " ".join(take("t.csv", "--better", "lower")["verdict"])
    assert "nothing is compared, as no value of policy but the baseline fifo has a valid sample" in verdict
    assert "no value of policy is" not in verdict


def test_a_column_that_is_the_same_in_each_file_is_refused() -> None:
    for name, shift in (("eevdf", 0.0), ("bore", 0.2)):
        lines = [(1.5 * 2**step, 10 + shift + step / 7) for step in (0, 1, 0.5, 2)]
        write({f"{name}.csv": rows("size,time", *lines)})
    said = refuse("eevdf.csv", "bore.csv", "--better", "lower")
    assert said.startswith("size has the same numbers for eevdf and bore, as no measurement has: say what it is by")
    for way in ("run=size", "workload=size", "ignore=size"):
        assert way in said
    found = verdicts(take("eevdf.csv", "bore.csv", "--better", "lower", "--columns", "ignore=size"))
    assert found == {("time", "value", "bore"): "unclear"}
