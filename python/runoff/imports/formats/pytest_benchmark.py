"""pytest-benchmark's JSON (``--benchmark-json``): each round is a run, in seconds."""

from runoff.imports import json_text
from runoff.imports.values import File, Number, Reading, make_time

FORMAT = "pytest-benchmark's JSON"
_NAME, _FULL_NAME = "name", "fullname"
_ABOUT = ("group", "param")
_OF_MACHINE = ("node", "machine", "python_version", "python_implementation")
_NOTE = "rounds of one process: what differs between processes is not in their spread"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "benchmarks", "machine_info", "fullname")


def read(file: File) -> Reading:
    """Return its rounds. Raises UsageError."""
    document = json_text.parse(file)
    about = json_text.list_texts(document.get("machine_info"), *_OF_MACHINE) if isinstance(document, dict) else {}
    numbers = []
    for position, each in enumerate(json_text.take(document, "benchmarks", list, file, "it")):
        where = f"benchmarks[{position}]"
        name = json_text.take(each, _NAME, str, file, where)
        stats = json_text.take(each, "stats", dict, file, where)
        rounds = stats.get("data")
        if not isinstance(rounds, list) or not rounds:
            raise file.refuse("it has no single rounds: write it by --benchmark-json, or with --benchmark-save-data")
        keys = {**about, **json_text.list_texts(each, _FULL_NAME, *_ABOUT), _NAME: name}
        for run, time in enumerate(rounds):
            place = f"{where}.stats.data[{run}]"
            numbers.append(Number("time_s", time, keys, place, place))
    parts = frozenset((_FULL_NAME, *_ABOUT))
    return Reading(FORMAT, numbers, [make_time("time_s", "time")], case=_NAME, parts=parts, notes=(_NOTE,))
