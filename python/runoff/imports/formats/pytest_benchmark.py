"""pytest-benchmark's JSON (``--benchmark-json``): each round is a run, in seconds."""

from runoff.imports import json_text
from runoff.imports.reading import File, Measured, Reading, make_time, parse_number

FORMAT = "pytest-benchmark's JSON"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "benchmarks", "machine_info", "fullname")


def read(file: File) -> Reading:
    """Return its rounds. Raises UsageError."""
    numbers = []
    for where, each in json_text.list_entries(file, "benchmarks"):
        case = json_text.take(each, "name", str, file, where)
        stats = json_text.take(each, "stats", dict, file, where)
        rounds = stats.get("data")
        if not isinstance(rounds, list) or not rounds:
            raise file.refuse("it has no single rounds: write it by --benchmark-json, or with --benchmark-save-data")
        for run, time in enumerate(rounds):
            value = parse_number(time, file, f"{where}.stats.data[{run}]")
            numbers.append(Measured(case, "time_s", value, run))
    note = "rounds of one process: what differs between processes is not in their spread"
    return Reading(FORMAT, "workloads", [make_time("time_s", "time")], numbers, notes=(note,))
