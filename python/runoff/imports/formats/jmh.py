"""JMH's JSON (``-rf json``): each fork is a run, the mean of its iterations; of a single fork each iteration is one."""

from statistics import fmean
from typing import Any

from runoff.imports import json_text
from runoff.imports.reading import File, FoundMetric, Measured, Reading, parse_number

FORMAT = "JMH's JSON"
_NOTE = "iterations of one fork: what differs between processes is not in their spread"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "primaryMetric", "benchmark", "scoreUnit")


def read(file: File) -> Reading:
    """Return its forks. Raises UsageError."""
    document = json_text.parse(file)
    if not isinstance(document, list):
        raise file.refuse("it is not a list of benchmarks")
    metrics: dict[str, FoundMetric] = {}
    numbers, notes = [], []
    for number, each in enumerate(document):
        where = f"[{number}]"
        primary = json_text.take(each, "primaryMetric", dict, file, where)
        unit = json_text.take(primary, "scoreUnit", str, file, f"{where}.primaryMetric")
        is_rate = json_text.take(each, "mode", str, file, where) == "thrpt"
        name = "throughput" if is_rate else "time"
        metric = metrics.setdefault(name, FoundMetric(name, unit, "higher" if is_rate else "lower"))
        if metric.unit != unit:
            raise file.refuse(f"its benchmarks are in {metric.unit} and in {unit}: run them with one -tu")
        forks = primary.get("rawData")
        if not isinstance(forks, list):
            raise file.refuse(f"{each['benchmark']} has no single iterations: in the mode sample JMH keeps a histogram")
        runs = _list_runs(forks, file, where)
        if len(forks) == 1 and _NOTE not in notes:
            notes.append(_NOTE)
        numbers += [Measured(_name(each, file, where), name, value, run) for run, value in enumerate(runs)]
    return Reading(FORMAT, "workloads", list(metrics.values()), numbers, notes=tuple(notes))


def _list_runs(forks: list[Any], file: File, where: str) -> list[float]:
    if not all(isinstance(fork, list) and fork for fork in forks):
        raise file.refuse(f"{where}.rawData is not a list of iterations for each fork")
    values = [[parse_number(each, file, f"{where}.rawData") for each in fork] for fork in forks]
    return values[0] if len(values) == 1 else [fmean(fork) for fork in values]


def _name(benchmark: dict[str, Any], file: File, where: str) -> str:
    name: str = json_text.take(benchmark, "benchmark", str, file, where)
    parameters = ",".join(f"{key}={value}" for key, value in (benchmark.get("params") or {}).items())
    return f"{name}:{parameters}" if parameters else name
