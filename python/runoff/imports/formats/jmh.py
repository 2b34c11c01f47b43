"""JMH's JSON (``-rf json``): each fork is a run, the mean of its iterations; of a single fork each iteration is one."""

from statistics import fmean
from typing import Any

from runoff.imports import json_text
from runoff.imports.values import File, FoundMetric, Number, Reading, parse_number

FORMAT = "JMH's JSON"
NAME = "benchmark"
_KEYS = ("mode", "threads")
_OF_MACHINE = ("jdkVersion", "vmName")
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
    parameters: dict[str, None] = {}
    numbers: list[Number] = []
    notes: dict[str, None] = {}
    for position, each in enumerate(document):
        where = f"[{position}]"
        name = json_text.take(each, NAME, str, file, where)
        primary = json_text.take(each, "primaryMetric", dict, file, where)
        unit = json_text.take(primary, "scoreUnit", str, file, f"{where}.primaryMetric")
        found = describe_metric(json_text.take(each, "mode", str, file, where), unit)
        metric = metrics.setdefault(found.name, found)
        forks = primary.get("rawData")
        if not isinstance(forks, list):
            raise file.refuse(f"{name} has no single iterations: in the mode sample JMH keeps a histogram")
        if len(forks) == 1:
            notes[_NOTE] = None
        own = json_text.list_texts(each.get("params"))
        parameters.update(dict.fromkeys(own))
        keys = {**json_text.list_texts(each, *_KEYS, *_OF_MACHINE), **own, NAME: name}
        for run, value in enumerate(_list_runs(forks, file, where)):
            place = f"{where}.rawData[{run}]"
            numbers.append(Number(metric.name, value, keys, place, place, unit))
    return Reading(
        FORMAT,
        numbers,
        list(metrics.values()),
        case=NAME,
        roles={"workload": (NAME, *parameters)} if parameters else {},
        parts=frozenset(_KEYS),
        notes=tuple(notes),
    )


def describe_metric(mode: str, unit: str) -> FoundMetric:
    """Return what a benchmark of a mode measures."""
    is_rate = mode == "thrpt"
    return FoundMetric("throughput" if is_rate else "time", unit, "higher" if is_rate else "lower")


def _list_runs(forks: list[Any], file: File, where: str) -> list[float]:
    if not all(isinstance(fork, list) and fork for fork in forks):
        raise file.refuse(f"{where}.rawData is not a list of iterations for each fork")
    values = [[parse_number(each, file, f"{where}.rawData") for each in fork] for fork in forks]
    return values[0] if len(values) == 1 else [fmean(fork) for fork in values]
