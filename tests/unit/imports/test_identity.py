"""A number is what everything beside it says: nothing is overwritten, pooled or dropped without a word."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_runner import run
from imported import refuse, take, values, verdicts, write


@pytest.fixture(autouse=True)
def _work_in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hyperfine(*results: tuple[str, list[float], Mapping[str, object]]) -> str:
    entries = [{"command": name, "mean": 1, "times": times, **more} for name, times, more in results]
    return json.dumps({"results": entries})


def test_two_results_of_one_command_are_runs_of_it() -> None:
    first, second, other = [1.0, 1.01, 1.02], [2.0, 2.01, 2.02], [1.02, 1.03, 1.04]
    write({"hf.json": hyperfine(("prog", first, {}), ("prog", second, {}), ("other", other, {}))})
    document = take("hf.json")
    assert values(document, "time_s") == {("prog", "imported"): first + second, ("other", "imported"): other}
    assert verdicts(document) == {("imported", "time_s", "other"): "unclear"}
    assert document["account"][1] == "all 9 numbers are kept"


def test_files_with_the_same_results_in_another_order_do_not_differ() -> None:
    first, second = [1.0, 1.01, 1.02], [2.0, 2.01, 2.02]
    write({
        "a.json": hyperfine(("prog", first, {}), ("prog", second, {})),
        "b.json": hyperfine(("prog", second, {}), ("prog", first, {})),
    })  # fmt: skip
    document = take("a.json", "b.json")
    (table,) = document["tables"]
    (arm,) = [arm for arm in table["arms"] if arm["arm"] == "b"]
    assert arm["against_baseline"]["percent"] == pytest.approx(0)


def test_parameters_of_a_command_are_workloads_or_runs() -> None:
    results = [
        (name, [base * seed, base * seed * 1.01], {"parameters": {"seed": str(seed)}})
        for name, base in (("prog", 1.0), ("other", 1.5))
        for seed in (1, 2, 3)
    ]
    write({"hf.json": hyperfine(*results)})
    assert sorted({work for _, work in values(take("hf.json"), "time_s")}) == ["seed=1", "seed=2", "seed=3"]
    Path("c").rename("first")
    pooled = values(take("hf.json", "--columns", "run=seed"), "time_s")
    assert {key: len(found) for key, found in pooled.items()} == {("prog", "imported"): 6, ("other", "imported"): 6}


def test_a_run_that_failed_is_void_and_counted() -> None:
    write({"hf.json": hyperfine(("a", [1.0, 1.1, 9.0], {"exit_codes": [0, 0, 3]}), ("b", [1.0, 1.2], {}))})
    document = take("hf.json")
    assert values(document, "time_s")["a", "imported"] == [1.0, 1.1]
    assert [sample["reason"] for sample in document["samples"] if not sample["valid"]] == ["exit code 3"]
    assert document["account"][1] == "4 of 5 numbers are kept; 1 do not count (1 x exit code 3)"


def fio(*iops: float, name: str = "rd", **more: object) -> str:
    jobs = [
        {
            "jobname": name,
            "error": 0,
            "read": {
                "total_ios": 9 * each,
                "iops": each,
                "bw_bytes": 4096 * each,
                "lat_ns": {"mean": 1e9 / each},
                "clat_ns": {"percentile": {"99.000000": 2e9 / each}},
            },
            "write": {"total_ios": 0},
            **more,
        }
        for each in iops
    ]
    return json.dumps({"fio version": "fio-3.33", "jobs": jobs})


def test_jobs_of_one_name_are_added_up() -> None:
    write({f"bfq{run}.json": fio(900 + run, 100, 100, 100) for run in range(5)})
    write({f"mq{run}.json": fio(500, 500, 500, 500 + run) for run in range(5)})
    document = take(*(f"bfq=bfq{run}.json" for run in range(5)), *(f"mq=mq{run}.json" for run in range(5)))
    assert values(document, "read_iops")["bfq", "rd"] == [1200 + run for run in range(5)]
    assert values(document, "read_bw")["mq", "rd"][0] == 2000 * 4096
    assert values(document, "read_lat_ns")["bfq", "rd"][0] == pytest.approx(4e9 / 1200)
    assert values(document, "read_clat_p99_ns")["bfq", "rd"][0] == 2e9 / 100
    found = verdicts(document)
    assert found["rd", "read_iops", "mq"] == "better"
    assert found["rd", "read_clat_p99_ns", "mq"] == "better"
    assert any("jobs of one name are one" in warning for warning in document["warnings"])


def test_one_job_that_failed_voids_its_sum() -> None:
    write(
        {
            "a.json": fio(100, 200),
            "b.json": fio(110, 210),
            "c.json": fio(120, 220).replace('"error": 0', '"error": 5', 1),
        }
    )
    document = take("x=a.json", "x=b.json", "x=c.json")
    assert values(document, "read_iops") == {("x", "rd"): [300, 320]}
    (void,) = [sample for sample in document["samples"] if not sample["valid"]]
    assert void["reason"] == "jobs[0]: error 5"


def test_fio_with_its_text_behind_and_other_percentiles() -> None:
    plain = json.loads(fio(100))
    (read,) = [job["read"] for job in plain["jobs"]]
    read["lat_ns"]["percentile"] = read.pop("clat_ns")["percentile"]
    text = json.dumps(plain)
    write({f"{run}.json": f"fio: note {run}\n{text}\nrd: (groupid=0, jobs=1): err= 0: {{x}}\n" for run in range(3)})
    document = take(*(f"a={run}.json" for run in range(3)))
    assert values(document, "read_lat_p99_ns")["a", "rd"] == [2e7] * 3
    mixed = json.dumps(plain).replace('"read"', '"mixed"')
    write({f"m{run}.json": mixed + " " * run for run in range(2)})
    Path("c").rename("first")
    assert values(take("a=m0.json", "a=m1.json"), "mixed_iops")["a", "rd"] == [100, 100]


def pytest_benchmarks(*entries: tuple[str, str, list[float]]) -> str:
    benchmarks = [{"name": name, "fullname": full, "stats": {"data": data}} for name, full, data in entries]
    return json.dumps({"machine_info": {"node": "m"}, "benchmarks": benchmarks})


def test_one_test_name_in_two_files_is_two_tests() -> None:
    slow = [0.1 + 0.0001 * (7 * run % 10) for run in range(10)]
    for name, base in (("old", 0.001), ("new", 0.002)):
        fast = [base * (1 + 0.01 * (7 * run % 10)) for run in range(10)]
        write({f"{name}.json": pytest_benchmarks(
            ("test_encode", "a/test_json.py::test_encode", fast), ("test_encode", "a/test_xml.py::test_encode", slow)
        ) + " " * (name == "new")})  # fmt: skip
    found = verdicts(take("old.json", "new.json"))
    assert found["test_encode:fullname=a/test_json.py::test_encode", "time_s", "new"] == "worse"
    assert found["test_encode:fullname=a/test_xml.py::test_encode", "time_s", "new"] == "small"
    run("gate", "c", "--max-regression", "5%", expect=1)


def go(name: str, base: float, runs: int = 10) -> str:
    return "".join(f"Benchmark{name} 1000 {base + 7 * run % 10 * base / 1000:g} ns/op\n" for run in range(runs))


def test_packages_and_processors_tell_benchmarks_of_go_apart() -> None:
    write({
        "old": "pkg: ex/cache\n" + go("Append-8", 100),
        "new": "pkg: ex/cache\n" + go("Append-8", 90) + "pkg: ex/csrf\n" + go("Append-8", 1000),
    })  # fmt: skip
    found = verdicts(take("old", "new"))
    assert found["Append:pkg=ex/cache", "ns_per_op", "new"] == "better"
    Path("c").rename("first")
    cpus = {"old": (400, 200, 125, 125), "new": (400, 200, 125, 200)}
    for name, times in cpus.items():
        write({name: "".join(go(f"Par{tail}", base) for tail, base in zip(("", "-2", "-4", "-8"), times, strict=True))})
    found = verdicts(take("old", "new"))
    assert found["Par:cpus=8", "ns_per_op", "new"] == "worse"
    assert found["Par:cpus=4", "ns_per_op", "new"] == "small"


def test_notes_of_one_go_file_are_never_pooled_and_can_be_arms() -> None:
    write({"both": "note: before\n" + go("X", 100) + "note: after\n" + go("X", 130)})
    assert sorted(work for _, work in values(take("both"), "ns_per_op")) == ["X:note=after", "X:note=before"]
    Path("c").rename("first")
    assert verdicts(take("both", "--columns", "arm=note")) == {("X", "ns_per_op", "after"): "worse"}


def test_machines_of_go_files_that_differ_are_told() -> None:
    write({"old": "cpu: A\ngoos: linux\n" + go("X", 100), "new": "cpu: B\ngoos: linux\n" + go("X", 130)})
    document = take("old", "new")
    assert "the arms differ in cpu too: A for old and B for new" in document["warnings"]
    assert not any("goos" in warning for warning in document["warnings"])


def test_processors_that_no_arm_shares_are_refused() -> None:
    write({"old": go("X-8", 100), "new": go("X-16", 60)})
    assert refuse("old", "new") == (
        "old and new have no workload in common: cpus is 8 in old and 16 in new; if that makes no difference, add "
        "--columns ignore=cpus"
    )
    assert verdicts(take("old", "new", "--columns", "ignore=cpus")) == {("X", "ns_per_op", "new"): "better"}


def test_columns_make_a_file_a_table_and_are_never_ignored() -> None:
    write({"hf.json": hyperfine(("a", [1.0, 1.1], {}), ("b", [1.0, 1.2], {}))})
    assert "--columns value= is for tables, and this is hyperfine's JSON" in refuse("hf.json", "--columns", "value=x")
    assert "it has no column 'x' for arm; there are: command" in refuse("hf.json", "--columns", "arm=x")
    assert "--format nosuch: the names are table, " in refuse("hf.json", "--format", "nosuch")


def test_statistics_of_old_google_benchmark_are_left_out() -> None:
    entries = [{"name": f"BM_X{tail}", "real_time": 1.0 + run / 10, "cpu_time": 1.0, "time_unit": "ns"}
               for run, tail in enumerate(("", "", "", "_mean", "_median", "_stddev"))]  # fmt: skip
    write({"g.json": json.dumps({"context": {}, "benchmarks": entries})})
    document = take("g.json")
    assert document["workloads"] == ["BM_X"]
    assert "6 are left out (6 x aggregates of other numbers)" in document["account"][1]


def test_a_benchmark_of_one_file_is_told_and_is_not_a_regression() -> None:
    write({"old": go("A", 100) + go("Gone", 50), "new": go("A", 90) + go("B", 1000)})
    document = take("old", "new")
    assert verdicts(document) == {
        ("A", "ns_per_op", "new"): "better",
        ("Gone", "ns_per_op", "new"): "absent",
        ("B", "ns_per_op", "new"): "absent",
    }
    told = " ".join(document["verdict"])
    assert "better than old in A (time per operation -10.0 %)" in told
    assert "not compared with it in the other 2" in told
    gate = run("gate", "c", "--max-regression", "5%")
    assert "Fine: no headline metric is worse than with old by more than 5 %." in gate.stdout
    assert "! not compared, as the files have it of old alone: Gone, time per operation" in gate.stdout
    assert "! not compared, as the files have it of new alone: B, time per operation" in gate.stdout
    assert "has not been run yet" not in gate.stdout + run("report", "c").stdout


def test_a_file_of_two_formats_is_refused_with_the_way_to_say_which() -> None:
    write({"x": go("A", 100) + "T: 0 (    9) P:80 I:1000 C:     10 Min:      3 Act:    5 Avg:    4 Max:       7\n"})
    assert refuse("x") == "x: it may be of cyclictest or go: add --format cyclictest or --format go"
    assert values(take("x", "--format", "go"), "ns_per_op")["x", "A"][0] == 100


def test_a_benchmark_that_is_called_as_a_statistic_is_kept() -> None:
    entry = {"name": "BM_geometric_mean", "cpu_time": 1.0, "time_unit": "ns"}
    write({"g.json": json.dumps({"context": {}, "benchmarks": [{**entry, "real_time": t} for t in (1.0, 1.1)]})})
    assert take("g.json")["workloads"] == ["BM_geometric_mean"]


def test_where_nothing_is_judged_the_way_to_it_is_told() -> None:
    for name in ("a", "b"):
        write(
            {
                name: "".join(f"{run + len(name)},,context-switches,1388825,100.00,,\n" for run in range(5))
                + "\n" * (name == "b")
            }
        )
    document = take("a", "b")
    assert any("--better context_switches=lower judges one" in warning for warning in document["warnings"])


def test_few_runs_are_counted_for_each_arm() -> None:
    write({"a": go("A", 100, runs=1) + go("B", 100), "b": go("A", 110, runs=3) + go("B", 100)})
    document = take("a", "b")
    (warnings,) = [table["warnings"] for table in document["tables"] if table["workload"] == "A"]
    assert "too few runs to separate any but large differences: a (1), b (3)" in warnings[0]["text"]


def test_a_file_that_is_one_run_has_a_name_once() -> None:
    line = "test a ... bench: {} ns/iter (+/- 1)\n"
    write({"1.txt": line.format(5) + line.format(6), "2.txt": line.format(7)})
    assert "one run has two values of time_ns for x, a: 1.txt, line 1, and 1.txt, line 2" in refuse(
        "x=1.txt", "x=2.txt"
    )
