"""hyperfine's JSON (``--export-json``): a command is a case, and each of its ``times`` a run, in seconds."""

from runoff.imports import json_text
from runoff.imports.reading import File, Measured, Reading, make_time, parse_number

FORMAT = "hyperfine's JSON"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "results", "command", "mean")


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    numbers = []
    for where, result in json_text.list_entries(file, "results"):
        command = json_text.take(result, "command", str, file, where)
        times = json_text.take(result, "times", list, file, where)
        failed = [code for code in result.get("exit_codes") or [] if code != 0]
        if failed:
            raise file.refuse(f"{len(failed)} runs of {command!r} ended with another status than 0")
        for run, time in enumerate(times):
            value = parse_number(time, file, f"{where}.times[{run}]")
            numbers.append(Measured(command, "time_s", value, run))
    return Reading(FORMAT, "arms", [make_time("time_s", "time")], numbers)
