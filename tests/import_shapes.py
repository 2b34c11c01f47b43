"""Files of each format, made of real ones at random, with what is known of every number in them.

Entries of the real file are shuffled, doubled, renamed, given parameters and other units, and marked as failed. Every
number is replaced by one that stands for itself, so that it can be found again wherever it goes.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

from runoff.results import Direction
from runoff.units import TIME

DATA = Path(__file__).parent / "data/imports"
TIMES = ("ns", "us", "ms", "s")


@dataclass(frozen=True)
class Origin:
    """What is known of one number."""

    value: float
    """Times in seconds."""
    identity: Hashable
    """Numbers are of one workload and metric if, and only if, this is equal."""
    arm: str
    counts: bool = True


@dataclass
class Made:
    """Files by their names, which are the arms where the files do not say them."""

    files: dict[str, str] = field(default_factory=dict)
    origins: list[Origin] = field(default_factory=list)
    roles: Mapping[str, str] = field(default_factory=dict)
    better: Mapping[str, Direction] = field(default_factory=dict)
    used: set[float] = field(default_factory=set)

    def take_numbers(self, draw: Random) -> "Numbers":
        """Return numbers that no two entries of the files share."""
        return Numbers(draw, self.used)


class Numbers:
    """Numbers that are not used yet."""

    def __init__(self, draw: Random, used: set[float]) -> None:
        self.draw = draw
        self.used = used

    def take(self) -> float:
        """Return a number of six digits."""
        while True:
            value = round(self.draw.uniform(1, 900), 3)
            if value not in self.used:
                self.used.add(value)
                return value


def seconds(value: float, unit: str) -> float:
    """Return a time in seconds."""
    return value * TIME[unit] / TIME["s"]


def mix(draw: Random, entries: list[Any], names: Callable[[Any], None]) -> list[Any]:
    """Return entries in another order, some doubled; ``names`` gives one a name that others may have."""
    mixed = json.loads(json.dumps(entries))
    for _ in range(draw.randrange(3)):
        mixed.append(json.loads(json.dumps(draw.choice(mixed))))
    for each in mixed:
        if draw.random() < 0.3:
            names(each)
    draw.shuffle(mixed)
    return mixed


def two_arms(make: Callable[[Made, str, Random], str]) -> Callable[[Random], Made]:
    """Return what makes a file for each of two arms."""

    def make_both(draw: Random) -> Made:
        made = Made()
        for arm in ("old", "new"):
            made.files[arm] = make(made, arm, draw)
        return made

    return make_both


def load(name: str) -> Any:
    """Return a real file's JSON."""
    return json.loads((DATA / name).read_text())


@two_arms
def hyperfine(made: Made, arm: str, draw: Random) -> str:
    document, numbers = load("hyperfine-two.json"), made.take_numbers(draw)
    commands = [each["command"] for each in document["results"]]
    results = mix(draw, document["results"], lambda each: each.update(command=draw.choice(commands)))
    for each in results:
        if draw.random() < 0.4:
            each["parameters"] = {draw.choice("ab"): str(draw.randrange(2))}
        each["times"] = [numbers.take() for _ in range(draw.randrange(2, 5))]
        each["exit_codes"] = [int(draw.random() < 0.1) for _ in each["times"]]
        identity = (each["command"], tuple(each.get("parameters", {}).items()))
        made.origins += [
            Origin(time, identity, arm, not code) for time, code in zip(each["times"], each["exit_codes"], strict=True)
        ]
    return json.dumps({"results": results})


@two_arms
def pytest_benchmark(made: Made, arm: str, draw: Random) -> str:
    document, numbers = load("pytest-data.json"), made.take_numbers(draw)
    names = [each["name"] for each in document["benchmarks"]]
    benchmarks = mix(draw, document["benchmarks"], lambda each: each.update(name=draw.choice(names)))
    for each in benchmarks:
        if draw.random() < 0.3:
            each["fullname"] = f"{draw.choice('xy')}::{each['name']}"
        if draw.random() < 0.3:
            each["group"] = draw.choice("gh")
        each["stats"]["data"] = [numbers.take() for _ in range(draw.randrange(2, 5))]
        identity = tuple(str(each.get(key) or "") for key in ("name", "fullname", "group", "param"))
        made.origins += [Origin(time, identity, arm) for time in each["stats"]["data"]]
    return json.dumps({**document, "benchmarks": benchmarks})


@two_arms
def google_benchmark(made: Made, arm: str, draw: Random) -> str:
    document, numbers = load("google-old.json"), made.take_numbers(draw)
    single = [each for each in document["benchmarks"] if each["run_type"] == "iteration"]
    names = [each["run_name"] for each in single]
    benchmarks = mix(draw, single, lambda each: each.update(run_name=draw.choice(names)))
    for each in benchmarks:
        each.update(threads=draw.choice((1, 1, 4)), time_unit=draw.choice(TIMES))
        failed = draw.random() < 0.1
        if failed:
            each.update(error_occurred=True, error_message="broken")
        identity = (each["run_name"], each["threads"])
        for key in ("real_time", "cpu_time", "items_per_second", "Elements", "Sums"):
            if key in each:
                each[key] = numbers.take()
                value = seconds(each[key], each["time_unit"]) if key.endswith("time") else each[key]
                made.origins.append(Origin(value, (key, *identity), arm, not failed))
    aggregates = [each for each in document["benchmarks"] if each["run_type"] != "iteration"]
    return json.dumps({**document, "benchmarks": [*benchmarks, *aggregates]})


@two_arms
def jmh(made: Made, arm: str, draw: Random) -> str:
    document, numbers = load("jmh-units.json"), made.take_numbers(draw)
    names = [each["benchmark"] for each in document]
    entries = mix(draw, document, lambda each: each.update(benchmark=draw.choice(names)))
    for each in entries:
        each["threads"] = draw.choice((1, 1, 2))
        if draw.random() < 0.3:
            each["params"]["mode"] = draw.choice("pq")
        time = draw.choice(TIMES)
        is_rate = each["mode"] == "thrpt"
        each["primaryMetric"]["scoreUnit"] = f"ops/{time}" if is_rate else f"{time}/op"
        raw = [[numbers.take() for _ in range(2)] for _ in range(draw.randrange(2, 4))]
        each["primaryMetric"]["rawData"] = raw
        identity = (each["benchmark"], each["mode"], each["threads"], tuple(sorted(each["params"].items())))
        for fork in raw:
            mean = sum(fork) / 2
            made.origins.append(Origin(mean / seconds(1, time) if is_rate else seconds(mean, time), identity, arm))
    return json.dumps(entries)


@two_arms
def go(made: Made, arm: str, draw: Random) -> str:
    lines = (DATA / "go-old.txt").read_text().splitlines()
    names = re.findall(r"^Benchmark(\S+)-2", "\n".join(lines), re.MULTILINE)
    numbers, text = made.take_numbers(draw), []
    for _ in range(draw.randrange(1, 4)):
        about = {key: draw.choice(("p", "q")) for key in ("pkg", "note") if draw.random() < 0.5}
        # A line of the format holds until another one of its key: each part says all of them.
        about = {"pkg": "p", "note": "p", **about}
        text += [f"{key}: {value}" for key, value in about.items()]
        for name in draw.choices(names, k=draw.randrange(2, 8)):
            cpus = draw.choice(("", "-2", "-2", "-16"))
            time, memory = numbers.take(), numbers.take()
            text.append(f"Benchmark{name}{cpus} \t 100\t {time} ns/op\t {memory} B/op")
            identity = (name, cpus or "-1", *about.values())
            made.origins.append(Origin(seconds(time, "ns"), ("ns", *identity), arm))
            made.origins.append(Origin(memory, ("B", *identity), arm))
    return "\n".join(text) + "\nPASS\n"


def perf(draw: Random) -> Made:
    made = Made()
    parts = draw.choice(([""], ["S0-D0-C0", "S0-D0-C1"], ["S0", "S1"]))
    groups = draw.choice(([""], ["/", "a.slice"]))
    for arm in ("old", "new"):
        made.files[arm] = _write_perf(made, arm, parts, groups, draw)
    return made


def _write_perf(made: Made, arm: str, parts: list[str], groups: list[str], draw: Random) -> str:
    real = (DATA / "perf-core.csv").read_text().splitlines()
    template = next(line for line in real if "cpu-clock" in line).split(",")[5:]
    numbers, lines = made.take_numbers(draw), []
    for _ in range(draw.randrange(2, 5)):
        for part in parts:
            for event in draw.sample(("cpu-clock", "context-switches"), 2):
                for group in groups:
                    unit = draw.choice(("msec", "ns")) if event == "cpu-clock" else ""
                    value, counted = numbers.take(), draw.random() > 0.1
                    fields = [*([part, "1"] if part else []), str(value) if counted else "<not counted>", unit, event]
                    lines.append(",".join([*fields, *([group] if group else []), *template]))
                    origin = seconds(value, unit.replace("msec", "ms")) if unit else value
                    made.origins.append(Origin(origin, (event, part, group), arm, counted))
    return "\n".join(lines) + "\n"


def fio(draw: Random) -> Made:
    made = Made()
    numbers = made.take_numbers(draw)
    document = load("fio-1.json")
    job = document["jobs"][0]
    side = "read" if job["read"]["total_ios"] else "write"
    plan = [(draw.choice(("rd", "wr")), draw.choice(("4k", "4k", "64k"))) for _ in range(draw.randrange(1, 5))]
    for arm in ("old", "new"):
        for run in range(draw.randrange(2, 4)):
            jobs, sums, failed = [], {}, set()
            for name, size in plan:
                each = json.loads(json.dumps(job))
                each.update(jobname=name, error=5 * (draw.random() < 0.05))
                each["job options"] = {**each["job options"], "bs": size}
                each[side]["iops"] = numbers.take()
                jobs.append(each)
                sums[name, size] = sums.get((name, size), 0.0) + each[side]["iops"]
                failed |= {(name, size)} if each["error"] else set()
            made.origins += [Origin(total, key, arm, key not in failed) for key, total in sums.items()]
            draw.shuffle(jobs)
            made.files[f"{arm}={run}"] = json.dumps({**document, "jobs": jobs, "run": f"{arm}{run}"})
    return made


def phoronix(draw: Random) -> Made:
    made = Made()
    numbers = made.take_numbers(draw)
    root = ElementTree.fromstring((DATA / "phoronix.xml").read_text())
    results = list(root.iter("Result"))
    for _ in range(draw.randrange(3)):
        copy = ElementTree.fromstring(ElementTree.tostring(draw.choice(results)))
        root.append(copy)
        results.append(copy)
    for result in results:
        for tag, words in (("Description", ("one", "two")), ("Scale", ("MB/s", "kB/s")), ("AppVersion", ("1", "2"))):
            found = result.find(tag)
            if draw.random() < 0.5 and found is not None:
                found.text = draw.choice(words)
        scale = result.findtext("Scale", "")
        identity = tuple(result.findtext(tag, "") for tag in ("Title", "AppVersion", "Description", "Scale"))
        for entry in result.iter("Entry"):
            values = [numbers.take() for _ in range(draw.randrange(1, 4))]
            raw, value = entry.find("RawString"), entry.find("Value")
            assert raw is not None
            assert value is not None
            raw.text, value.text = ":".join(map(str, values)), str(values[0])
            arm = entry.findtext("Identifier", "")
            made.origins += [Origin(each, (*identity, scale), arm) for each in values]
    made.files["x"] = "<?xml version='1.0'?>\n" + ElementTree.tostring(root, encoding="unicode")
    return made


def _write(header: list[str], rows: list[list[object]], draw: Random) -> str:
    """Return a table, its columns in any order."""
    order = draw.sample(range(len(header)), len(header))
    out = io.StringIO()
    writer = csv.writer(out, delimiter=draw.choice(",;\t"), lineterminator="\n")
    writer.writerow([header[place] for place in order])
    writer.writerows([[row[place] for place in order] for row in rows])
    return out.getvalue()


def _factors(draw: Random) -> list[str]:
    return draw.sample(("mode", "device", "clients"), draw.randrange(3))


def long_table(draw: Random) -> Made:
    made = Made()
    numbers, factors = made.take_numbers(draw), _factors(draw)
    header = ["arm", "metric", "value", "unit", "status", *factors]
    rows: list[list[object]] = []
    for _ in range(draw.randrange(10, 40)):
        arm, metric = draw.choice(("eevdf", "bore")), draw.choice(("latency", "wait"))
        unit, value = draw.choice(("us", "\u00b5s", "msec", "sec")), numbers.take()
        levels = [draw.choice(("ro", "rw")) for _ in factors]
        status = draw.choice(("ok", "ok", "ok", "failed"))
        rows.append([arm, metric, value, unit, status, *levels])
        made.origins.append(Origin(value * TIME[unit] / TIME["s"], (metric, *levels), arm, status == "ok"))
    made.files["x"] = _write(header, rows, draw)
    return made


def table_of_runs(draw: Random) -> Made:
    made = Made()
    numbers, factors = made.take_numbers(draw), _factors(draw)
    header = ["Run_ID", "Scheduler", "avg_us", "max_us", "valid", *factors]
    rows: list[list[object]] = []
    for run in range(draw.randrange(10, 40)):
        arm, is_valid = draw.choice(("eevdf", "bore")), draw.random() > 0.1
        levels = [draw.choice(("ro", "rw")) for _ in factors]
        values = [numbers.take(), numbers.take() if draw.random() > 0.1 else ""]
        rows.append([run, arm, *values, "yes" if is_valid else "no", *levels])
        made.origins += [
            Origin(seconds(value, "us"), (metric, *levels), arm, is_valid)
            for metric, value in zip(header[2:4], values, strict=True)
            if isinstance(value, float)
        ]
    made.files["x"] = _write(header, rows, draw)
    made.roles = {"arm": "Scheduler", "metrics": "avg_us+max_us"}
    return made


def wide_table(draw: Random) -> Made:
    made = Made(better={"": "lower"})
    numbers = made.take_numbers(draw)
    arms = draw.sample(("eevdf", "bore", "bfs", "6.12-rc1"), draw.randrange(2, 5))
    has_runs = draw.random() < 0.5
    rows: list[list[object]] = []
    for run in range(1, draw.randrange(4, 12)):
        values = [numbers.take() if draw.random() > 0.1 else "" for _ in arms]
        rows.append([*([run] if has_runs else []), *values])
        made.origins += [
            Origin(value, "", arm) for arm, value in zip(arms, values, strict=True) if isinstance(value, float)
        ]
    made.files["x"] = _write([*(["trial"] if has_runs else []), *arms], rows, draw)
    return made


def cargo_bench(draw: Random) -> Made:
    made = Made()
    numbers = made.take_numbers(draw)
    names = re.findall(r"^test (\S+)", (DATA / "libtest-1.txt").read_text(), re.MULTILINE)
    for arm in ("old", "new"):
        for run in range(draw.randrange(2, 5)):
            lines = []
            for name in draw.sample(names, len(names)):
                value, unit = numbers.take(), draw.choice(("ns", "us"))
                lines.append(f"test {name} ... bench: {value:>12} {unit}/iter (+/- 1.5)")
                made.origins.append(Origin(seconds(value, unit), name, arm))
            made.files[f"{arm}={run}"] = f"\nrunning {len(names)} tests\n" + "\n".join(lines) + f"\n\nrun {arm}{run}\n"
    return made


def jmh_csv(draw: Random) -> Made:
    made = Made()
    numbers = made.take_numbers(draw)
    header, *real = csv.reader(io.StringIO((DATA / "jmh-1.csv").read_text()))
    for arm in ("old", "new"):
        for run in range(draw.randrange(2, 5)):
            out = io.StringIO()
            csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(header)
            for row in draw.sample(real, len(real)):
                time = draw.choice(TIMES)
                is_rate, value = row[1] == "thrpt", numbers.take()
                unit = f"ops/{time}" if is_rate else f"{time}/op"
                csv.writer(out, lineterminator="\n").writerow([*row[:4], value, "NaN", unit, row[7]])
                origin = value / seconds(1, time) if is_rate else seconds(value, time)
                made.origins.append(Origin(origin, (row[0], row[7]), arm))
            made.files[f"{arm}={run}"] = out.getvalue()
    return made


SHAPES: dict[str, Callable[[Random], Made]] = {
    "hyperfine": hyperfine,
    "pytest-benchmark": pytest_benchmark,
    "Google Benchmark": google_benchmark,
    "JMH": jmh,
    "JMH's CSV": jmh_csv,
    "Go": go,
    "perf": perf,
    "fio": fio,
    "Phoronix": phoronix,
    "cargo bench": cargo_bench,
    "a long table": long_table,
    "a table of runs": table_of_runs,
    "a wide table": wide_table,
}


def cut(text: str, draw: Random) -> str:
    """Return a text that breaks off somewhere."""
    return text[: draw.randrange(len(text))]
