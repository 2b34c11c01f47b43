"""Files that the programs themselves have written, and what is read from them."""

import json
import re
from pathlib import Path
from statistics import fmean

import pytest

from runoff.errors import UsageError
from runoff.imports import formats
from runoff.imports.files import read_sources
from runoff.imports.values import File, Reading

DATA = Path(__file__).parents[2] / "data/imports"


def read(name: str) -> Reading:
    (source,) = read_sources([str(DATA / name)])
    return formats.read(source.file, {})


def read_text(text: str, name: str = "x", **columns: str) -> Reading:
    return formats.read(File(name, text), columns)


def values(reading: Reading, case: str, metric: str) -> list[float]:
    return [
        float(str(each.value))
        for each in reading.numbers
        if (each.keys.get(reading.case, ""), each.metric) == (case, metric)
    ]


def cells(reading: Reading, *keys: str) -> list[tuple[object, ...]]:
    """Return the texts of these keys of each number, and its value."""
    return [(*(each.keys.get(key) for key in keys), each.value) for each in reading.numbers]


def test_hyperfine() -> None:
    reading = read("hyperfine-two.json")
    results = json.loads((DATA / "hyperfine-two.json").read_text())["results"]
    assert (reading.format, reading.cases) == ("hyperfine's JSON", "arms")
    for result in results:
        found = values(reading, result["command"], "time_s")
        assert len(found) == 10
        assert fmean(found) == pytest.approx(result["mean"])
    assert [(metric.unit, metric.direction) for metric in reading.metrics] == [("s", "lower")]


def test_go() -> None:
    reading = read("go-old.txt")
    assert [(metric.name, metric.unit, metric.direction) for metric in reading.metrics] == [
        ("ns_per_op", "ns", "lower"), ("MB_per_s", "MB/s", "higher"), ("B_per_op", "B", "lower"),
        ("allocs_per_op", "", "lower"), ("Mitems_s", "Mitems/s", "higher"),
    ]  # fmt: skip
    assert sorted({each.keys["name"] for each in reading.numbers}) == ["Sum/n=100", "Sum/n=1000", "Upper"]
    assert values(reading, "Upper", "ns_per_op")[0] == 9900
    assert len(values(reading, "Sum/n=1000", "Mitems_s")) == 6


def test_go_says_which_side_is_better() -> None:
    text = "Unit hits better=higher\nUnit faults better=lower\nBenchmarkX-8 10 5 hits 7 faults 1 odd\n"
    reading = read_text(text)
    assert [metric.direction for metric in reading.metrics] == ["higher", "lower", None]
    assert values(reading, "X", "hits") == [5]


def test_google_benchmark() -> None:
    reading = read("google-old.json")
    document = json.loads((DATA / "google-old.json").read_text())["benchmarks"]
    single = [each for each in document if each["run_type"] == "iteration"]
    first = [each["real_time"] for each in single if each["run_name"] == single[0]["run_name"]]
    assert values(reading, single[0]["run_name"], "real_time") == pytest.approx(first)
    directions = {metric.name: metric.direction for metric in reading.metrics}
    assert directions["cpu_time"] == "lower"
    assert directions["items_per_second"] == "higher"
    assert len({each.run for each in reading.numbers}) == len(single)
    with pytest.raises(UsageError, match="aggregates only: run without --benchmark_report_aggregates_only"):
        read("google-aggregates.json")


def test_pytest_benchmark() -> None:
    reading = read("pytest-data.json")
    for benchmark in json.loads((DATA / "pytest-data.json").read_text())["benchmarks"]:
        assert values(reading, benchmark["name"], "time_s") == benchmark["stats"]["data"]
    assert reading.notes == ("rounds of one process: what differs between processes is not in their spread",)
    without = (DATA / "pytest-data.json").read_text().replace('"data"', '"other"')
    with pytest.raises(UsageError, match="write it by --benchmark-json, or with --benchmark-save-data"):
        read_text(without)


def test_criterion() -> None:
    sources = read_sources([str(DATA / "criterion")])
    readings = [formats.read(source.file, {}) for source in sources]
    assert [each.numbers[0].keys["benchmark"] for each in readings] == ["fib 10", "sums/slice/1000"]
    sample = json.loads(sources[0].file.text)
    assert len(readings[0].numbers) == 10
    assert readings[0].numbers[3].value == pytest.approx(sample["times"][3] / sample["iters"][3])
    assert [source.arm for source in sources] == ["criterion"] * 2


def test_fio() -> None:
    reading = read("fio-1.json")
    job = json.loads((DATA / "fio-1.json").read_text())["jobs"][0]
    assert reading.is_one_run
    (direction,) = [each for each in ("read", "write") if job[each]["total_ios"]][:1]
    assert values(reading, job["jobname"], f"{direction}_iops") == [job[direction]["iops"]]
    p99 = job[direction]["clat_ns"]["percentile"]["99.000000"]
    assert values(reading, job["jobname"], f"{direction}_clat_p99_ns") == [p99]
    assert read_text("note: something\n" + (DATA / "fio-1.json").read_text()).numbers == reading.numbers


@pytest.mark.parametrize(("name", "runs"), [("perf-append.csv", 5), ("perf-r5.csv", 1), ("perf-semicolon.csv", 1)])
def test_perf_stat(name: str, runs: int) -> None:
    reading = read(name)
    assert [(metric.title, metric.unit, metric.direction) for metric in reading.metrics] == [
        ("task-clock", "ms", "lower"), ("context-switches", "", "none"), ("page-faults", "", "none"),
    ]  # fmt: skip
    assert len(values(reading, "", "task_clock")) == runs
    assert not any(each.keys for each in reading.numbers)
    assert bool(reading.notes) == (runs == 1)


def test_jmh() -> None:
    def benchmark(mode: str, unit: str, raw: list[list[float]], **more: object) -> dict[str, object]:
        return {"benchmark": "a.B.c", "mode": mode, "primaryMetric": {"scoreUnit": unit, "rawData": raw}} | more

    forks = [[1.0, 3.0], [2.0, 4.0], [5.0, 5.0]]
    reading = read_text(json.dumps([benchmark("avgt", "ns/op", forks, params={"n": "10", "m": "x"})]))
    assert cells(reading, "benchmark", "n", "m") == [("a.B.c", "10", "x", value) for value in (2.0, 3.0, 5.0)]
    assert (reading.metrics[0].direction, reading.notes) == ("lower", ())
    one = read_text(json.dumps([benchmark("thrpt", "ops/s", [[7.0, 8.0]])]))
    assert values(one, "a.B.c", "throughput") == [7.0, 8.0]
    assert one.metrics[0].direction == "higher"
    assert one.notes[0].startswith("iterations of one fork")
    real = read("jmh-old.json")
    for each in json.loads((DATA / "jmh-old.json").read_text()):
        size = (each.get("params") or {}).get("size")
        metric = "throughput" if each["mode"] == "thrpt" else "time"
        of_metric = [number for number in real.numbers if number.metric == metric]
        found = [
            float(str(number.value))
            for number in of_metric
            if (number.keys["benchmark"], number.keys.get("size")) == (each["benchmark"], size)
        ]
        assert len(found) == each["forks"]
        assert fmean(found) == pytest.approx(each["primaryMetric"]["score"])
    with pytest.raises(UsageError, match="in the mode sample JMH keeps a histogram"):
        read("jmh-sample.json")
    mixed = read_text(json.dumps([benchmark("avgt", "ns/op", forks), benchmark("avgt", "us/op", forks)]))
    assert [number.unit for number in mixed.numbers] == ["ns/op"] * 3 + ["us/op"] * 3


def test_phoronix() -> None:
    of_xml, of_csv = read("phoronix.xml"), read("phoronix-raw.csv")
    assert [(metric.unit, metric.direction) for metric in of_xml.metrics] == [("MB/s", "higher")]
    assert [metric.direction for metric in of_csv.metrics] == ["higher"]
    as_tuples = [cells(each, "system", "test") for each in (of_xml, of_csv)]
    assert as_tuples[0] == as_tuples[1]
    assert as_tuples[1][:2] == [
        ("old", "Tiny Hash 1.2 - Algorithm: SHA-1", "1419.185"),
        ("old", "Tiny Hash 1.2 - Algorithm: SHA-1", "583.527"),
    ]
    assert len(of_xml.numbers) == 20
    with pytest.raises(UsageError, match="it has means alone: export it by phoronix-test-suite result-file-raw-to-csv"):
        read("phoronix.csv")
    assert {each.keys["test"] for each in read("phoronix-monitor.xml").numbers} <= {each[1] for each in as_tuples[0]}
    whole = (DATA / "phoronix.xml").read_text()
    with pytest.raises(UsageError, match="it is not whole XML"):
        read_text(whole[:3000])
    equal = re.sub(r"<RawString>[^<]*", "<RawString>", whole)
    assert len(read_text(equal).numbers) == 4


@pytest.mark.parametrize(
    ("name", "mean_ms"), [("0.6.8-frames", 16.8), ("0.7.2-frames", 16.7), ("0.7.2-versioned", 16.7)]
)
def test_mangohud(name: str, mean_ms: float) -> None:
    reading = read(f"mangohud-{name}.csv")
    assert reading.is_one_run
    assert [metric.unit for metric in reading.metrics] == ["ms", "ms", "fps"]
    mean, p99, low = (float(str(each.value)) for each in reading.numbers)
    assert mean == pytest.approx(mean_ms, rel=0.03)
    assert p99 > mean
    assert low < 1000 / mean
    assert bool(reading.notes) == (name == "0.7.2-versioned")


def test_mangohud_says_which_frames_it_knows() -> None:
    assert read("mangohud-0.7.2-interval.csv").notes[0].endswith("MangoHud logs all of them with log_interval=0")
    with pytest.raises(UsageError, match="it is the summary of a log"):
        read("mangohud-0.7.2-frames_summary.csv")
    early = "fps,frametime,elapsed\n2.3e-05,4.3e+07,100\n" + "100,10,20000000\n" * 20
    assert read_text(early).numbers[0].value == 10
    frames = "".join(f"{1000 / time},{time},0\n" for time in [10.0] * 198 + [20.0, 40.0])
    mean, p99, low = (float(str(each.value)) for each in read_text(f"fps,frametime,cpu_load\n{frames}").numbers)
    assert (mean, low) == (pytest.approx(10.2), pytest.approx(1000 / 30))
    assert p99 == pytest.approx(19.9)


def test_a_long_table() -> None:
    header = "block,arm,workload,metric,unit,direction,value,valid\n"
    reading = read_text(f"{header}1,a,w,t,s,lower,5,1\n1,b,w,t,s,lower,6,true\n2,a,w,t,s,lower,x,0\n")
    assert cells(reading, "arm", "workload", "block", "valid") == [
        ("a", "w", "1", "1", "5"), ("b", "w", "1", "true", "6"), ("a", "w", "2", "0", "x"),
    ]  # fmt: skip
    assert reading.roles["status"] == ("valid",)
    assert (reading.metrics[0].unit, reading.metrics[0].direction) == ("s", "lower")
    other = read_text("kernel;fps\n6.12;60\n7.1;61.5\n", arm="kernel", value="fps")
    assert cells(other, "kernel") == [("6.12", "60"), ("7.1", "61.5")]


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_wide_table(delimiter: str) -> None:
    text = "# measured at night\nrun,base,new kernel\n1,10,11.5\n\n2,12,\n".replace(",", delimiter)
    reading = read_text(text)
    assert cells(reading, "column", "run") == [
        ("base", "1", "10"), ("new kernel", "1", "11.5"), ("base", "2", "12"), ("new kernel", "2", ""),
    ]  # fmt: skip
    assert [each.where for each in reading.numbers][::2] == ["line 3, column 'base',", "line 5, column 'base',"]
    assert read_text("block,a,b\n1,10,11\n2,12,13\n").roles["block"] == ("block",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is of no format that is read"),
        ("just some words\nand more\n", "'just some words' has 'and more'"),
        ('{"counter-value" : "0.4"}\n{"x": 1}\n', "it is of no format that is read"),
        ("1,2\n3,4\n", "it is of no format that is read"),
        ("a,b\n", "it is of no format that is read"),
        ("a,a\n1,2\n", "two of its columns are named 'a'"),
        ("a,b\n1,2\n3\n", "line 3 has 1 fields, and the header 2"),
        ("name,time\nx,1\n", "its column 'name' has 'x', which is not a number: a table without a column arm"),
        ("arm,value,direction\na,1,up\n", "line 2 has the direction 'up'"),
        ('{"results": [{"command": "x", "mean": 1, "times": [1, 2', "it is not whole JSON"),
        ('{"results": [{"command": "x", "mean": 1}]}', "results[0] has no times, which is needed"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_text(text, "some.file")
    assert str(caught.value).startswith("some.file: ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_that_are_not_there_are_named() -> None:
    with pytest.raises(UsageError, match="it has no column 'kernel' for arm; there are: a, b"):
        read_text("a,b\n1,2\n", arm="kernel")


def test_files_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nul").write_bytes(b"a,b\n1,\x002\n")
    (tmp_path / "folder").mkdir()
    for name, why in (
        ("binary", "is not text in UTF-8"),
        ("nul", "it has NUL characters"),
        ("folder", "is a folder without results of criterion"),
        ("nowhere", "cannot read .*nowhere: No such file"),
    ):
        with pytest.raises(UsageError, match=why):
            read_sources([str(tmp_path / name)])
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="have the same content: give each file once"):
        read_sources([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    with pytest.raises(UsageError, match="give a name and a file"):
        read_sources([f"={tmp_path / 'a.csv'}"])
