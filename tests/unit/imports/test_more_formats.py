"""Other forms of the programs' files, as the programs have written them."""

import json
import re
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from runoff.errors import UsageError
from runoff.imports import formats
from runoff.imports.files import read_sources
from runoff.imports.formats import perf_stat
from runoff.imports.values import File, Reading

DATA = Path(__file__).parents[2] / "data/imports"


def read(name: str) -> Reading:
    (source,) = read_sources([str(DATA / name)])
    return formats.read(source.file, {})


def read_text(text: str, name: str = "x") -> Reading:
    return formats.read(File(name, text), {})


def collect(reading: Reading, *keys: str) -> dict[tuple[str, ...], list[object]]:
    """Return the values by metric and these keys."""
    found: dict[tuple[str, ...], list[object]] = {}
    for number in reading.numbers:
        found.setdefault((number.metric, *(number.keys[key] for key in keys)), []).append(number.value)
    return found


def test_perf_by_core() -> None:
    fields, documents = read("perf-core.csv"), read("perf-core.json")
    assert Counter(number.keys["part"] for number in fields.numbers) == {"S0-D0-C0": 6, "S0-D0-C1": 6}
    assert Counter(number.keys["core"] for number in documents.numbers) == {"S0-D0-C0": 6, "S0-D0-C1": 6}
    assert (fields.parts, documents.parts) == ({"part"}, {"core"})
    lines = (DATA / "perf-core.csv").read_text().splitlines()
    clocks = [line.split(",")[2] for line in lines if "cpu-clock" in line and line.startswith("S0-D0-C1")]
    assert collect(fields, "part")["cpu_clock", "S0-D0-C1"] == clocks
    assert [metric.unit for metric in fields.metrics] == ["ms", ""]
    assert all(number.run is None for number in (*fields.numbers, *documents.numbers))


def test_perf_by_control_group() -> None:
    reading = read("perf-cgroup.csv")
    assert {number.keys["cgroup"] for number in reading.numbers} == {"/"}
    assert len(collect(reading)["context_switches",]) == 3


def test_perf_in_intervals() -> None:
    reading = read("perf-interval.csv")
    lines = (DATA / "perf-interval.csv").read_text().splitlines()
    times = [line.split(",")[0].strip() for line in lines if "task-clock" in line and "summary" not in line]
    assert [number.run for number in reading.numbers if number.metric == "task_clock"] == times
    assert reading.left_out == {"sums of the intervals": 3}
    assert reading.notes == ("intervals of one process: what differs between processes is not in their spread",)


def test_perf_counts_that_were_not_made_are_void() -> None:
    line = "{},{},msec,task-clock,1388825,100.00,0.014,CPUs utilized\n"
    reading = read_text(line.format("     0.1", "1.39") + line.format("     0.2", "<not counted>"))
    assert [(number.value, number.why_void) for number in reading.numbers] == [("1.39", ""), ("", "not counted")]


def test_energy_is_judged_and_counts_are_not() -> None:
    line = "{},{},{},1388825,100.00,,\n"
    text = line.format("2.5", "Joules", "power/energy-pkg/") + line.format("9", "", "context-switches")
    assert [(metric.title, metric.direction) for metric in read_text(text).metrics] == [
        ("power/energy-pkg/", "lower"), ("context-switches", "none"),
    ]  # fmt: skip


def test_a_table_of_numbers_and_words_is_not_one_of_perf() -> None:
    rows = "".join(f"{block},eevdf,hackbench,10.{block},s\n" for block in range(1, 9))
    assert read_text("block,arm,workload,value,unit\n" + rows).format == "a table with a row for each number"
    with pytest.raises(UsageError, match="it is of no format that is read"):
        read_text(rows)


def test_cyclictest() -> None:
    histogram, lines, document = (read(f"cyclictest{end}") for end in ("-histogram.txt", ".txt", ".json"))
    text = (DATA / "cyclictest-histogram.txt").read_text()
    ends = {
        name: [float(word) for word in values.split()] for name, values in re.findall(r"^# (.*): ([\d ]+)$", text, re.M)
    }
    cycles = [a + b for a, b in zip(ends["Total"], ends["Histogram Overflows"], strict=True)]
    mean = sum(m * c for m, c in zip(ends["Avg Latencies"], cycles, strict=True)) / sum(cycles)
    assert collect(histogram) == {
        ("latency_max",): [max(ends["Max Latencies"])],
        ("latency_avg",): [pytest.approx(mean)],
    }
    assert histogram.left_out == {"part of a maximum or mean over threads": 2, "bins of the histogram": 80}
    words = [
        list(map(int, re.findall(r"\d+", line))) for line in (DATA / "cyclictest.txt").read_text().splitlines()[1:]
    ]
    assert collect(lines)["latency_max",] == [max(each[-1] for each in words)]
    threads = json.loads((DATA / "cyclictest.json").read_text())["thread"].values()
    assert collect(document)["latency_max",] == [max(thread["max"] for thread in threads)]
    assert all(each.is_one_run for each in (histogram, lines, document))
    assert [metric.unit for metric in histogram.metrics] == ["us", "us"]


def test_a_running_cyclictest_ends_with_its_last_lines() -> None:
    line = "T: 0 (    9) P:80 I:1000 C: {:6} Min:      3 Act:    5 Avg:    4 Max:    {:4}\n"
    reading = read_text(
        "policy: fifo: loadavg: 0.00\n\n" + line.format(0, 0) + line.format(10, 7) + line.format(20, 31)
    )
    assert collect(reading) == {("latency_max",): [31.0], ("latency_avg",): [4.0]}
    with pytest.raises(UsageError, match="it has no thread that was ever woken"):
        read_text(line.format(0, 0))


def test_hyperfine_csv() -> None:
    reading = read("hyperfine.csv")
    assert collect(reading, "command", "n")["mean", "sleep 0.01", "0.01"] == ["0.0147045086"]
    assert reading.left_out == {"spreads and extremes of other numbers": 8}
    assert "--export-json has every run" in reading.notes[0]


def test_hyperfine_with_failures_and_parameters() -> None:
    failed = read("hyperfine-failed.json")
    assert [number.why_void for number in failed.numbers] == [""] * 3 + ["exit code 3"] * 3
    assert collect(read("hyperfine-seeds.json"), "command", "seed").keys() == {
        ("time_s", "prog", "1"), ("time_s", "prog", "2"),
    }  # fmt: skip


def test_jmh_csv_and_units() -> None:
    reading = read("jmh-1.csv")
    assert collect(reading, "benchmark", "size")["throughput", "demo.B.max", "100"] == ["5164.647797"]
    assert {(number.keys["benchmark"], number.unit) for number in reading.numbers} == {
        ("demo.B.max", "ops/ms"), ("demo.B.sum", "ns/op"), ("demo.B.xor", "us/op"),
    }  # fmt: skip
    assert reading.is_one_run
    mixed = read("jmh-units.json")
    for each in json.loads((DATA / "jmh-units.json").read_text()):
        found = [
            number
            for number in mixed.numbers
            if (number.keys["benchmark"], number.keys["size"]) == (each["benchmark"], each["params"]["size"])
        ]
        assert fmean(float(str(number.value)) for number in found) == pytest.approx(each["primaryMetric"]["score"])
        assert {number.unit for number in found} == {each["primaryMetric"]["scoreUnit"]}


def test_text_of_cargo_bench() -> None:
    reading = read("libtest-1.txt")
    assert collect(reading, "benchmark") == {
        ("time_ns", "copy"): ["256.91"], ("throughput", "copy"): ["16000"], ("time_ns", "sum"): ["364.22"],
    }  # fmt: skip
    old = read_text("test a::b ... bench:      12,345 ns/iter (+/- 67)\n")
    assert collect(old, "benchmark") == {("time_ns", "a::b"): ["12345"]}


@pytest.mark.parametrize("line", ["bore,10,,cycles,5,100.00", "1,bore,10,,cycles,500,100.00,,"])
def test_a_count_with_a_word_before_it_is_not_perfs(line: str) -> None:
    """The word may be an arm, and would be lost."""
    assert not perf_stat.recognise(File("x.csv", f"{line}\n{line}\n"))
    assert perf_stat.recognise(File("x.csv", "1.001,S0-D0-C1,10,,cycles,500,100.00,,\n"))


def test_text_of_criterion() -> None:
    """The second run has changes beside its times, which are not values; a long name has a line of its own."""
    long = "sums of several/a rather long name of a benchmark"
    assert collect(read("criterion-1.txt"), "benchmark") == {
        ("time_ns", "sum"): ["777.91"], ("time_ns", f"{long}/100"): ["84.237"],
        ("time_ns", f"{long}/10000"): ["7.7209"],
    }  # fmt: skip
    again = read("criterion-2.txt")
    assert again.left_out == {
        "spreads and limits of other numbers": 6,
        "throughputs that are computed of the times": 6,
        "changes since an earlier run": 15,
    }
    assert [(number.keys["benchmark"], number.value, number.unit) for number in again.numbers] == [
        ("sum", "756.57", "ns"), (f"{long}/100", "81.252", "ns"), (f"{long}/10000", "7.5238", "\u00b5s"),
    ]  # fmt: skip


def test_afterburner_writes_as_windows_does(tmp_path: Path) -> None:
    head = "00, 01-02-2024 10:00:00, Hardware monitoring log v1.6\n02, 01-02-2024 10:00:00, GPU \u00b0C,Framerate\n"
    (tmp_path / "x.hml").write_bytes((head + "80, 01-02-2024 10:00:01, 50.0, 60.0\n").encode("cp1252"))
    (source,) = read_sources([str(tmp_path / "x.hml")])
    assert collect(formats.read(source.file, {})) == {("frame_rate_fps",): [60.0]}


def test_afterburner() -> None:
    head = "00, 01-02-2024 10:00:00, Hardware monitoring log v1.6 \n01, 01-02-2024 10:00:00, A GPU\n"
    names = "02, 01-02-2024 10:00:00, GPU usage           ,Framerate           ,Frametime           \n"
    looks = "".join(
        f"80, 01-02-2024 10:00:0{second}, 97.000              ,{rate}              ,{time}              \n"
        for second, rate, time in ((1, "60.0", "16.7"), (2, "58.0", "17.3"), (3, "N/A", "N/A"))
    )
    reading = read_text(head + names + looks)
    assert collect(reading) == {("frame_rate_fps",): [59.0], ("frame_time_ms",): [pytest.approx(17.0)]}
    assert reading.left_out == {"part of a mean over looks": 2, "of other sensors": 3}
    with pytest.raises(UsageError, match="it has no frame time and no frame rate"):
        read_text(head + names.replace("Frame", "Other") + looks)
    with pytest.raises(UsageError, match="line 4 has 2 values, and there are 3 sensors"):
        read_text(head + names + "80, 01-02-2024 10:00:01, 97.0, 60.0\n")
