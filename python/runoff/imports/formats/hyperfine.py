"""hyperfine's JSON (``--export-json``) and CSV (``--export-csv``); times are in seconds.

In JSON a command is a case, and each of its ``times`` a run. CSV has means alone, so that a file is one run.
"""

from typing import Any

from runoff.imports import json_text
from runoff.imports.formats.separated import parse
from runoff.imports.values import File, FoundMetric, Number, Reading, make_time

FORMAT = "hyperfine's JSON"
CSV = "hyperfine's CSV"
_COMMAND = "command"
_HEADER = "command,mean,stddev,median,user,system,min,max"
_PARAMETER = "parameter_"
_CSV_METRICS = (
    make_time("mean", "mean time"),
    FoundMetric("user", "s", "none", "user time"),
    FoundMetric("system", "s", "none", "system time"),
)
_LEFT_OUT = ("stddev", "median", "min", "max")
_MEANS = "hyperfine's CSV has means alone, so that a file is one run: --export-json has every run"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return file.text.startswith(_HEADER) or json_text.looks_like(file.text, "results", "command", "mean")


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    if file.text.startswith(_HEADER):
        return _read_csv(file)
    numbers = []
    for where, result in json_text.list_entries(file, "results"):
        command = json_text.take(result, _COMMAND, str, file, where)
        times = json_text.take(result, "times", list, file, where)
        codes = result.get("exit_codes") or []
        keys = {**json_text.list_texts(result.get("parameters")), _COMMAND: command}
        for run, time in enumerate(times):
            place = f"{where}.times[{run}]"
            numbers.append(Number("time_s", time, keys, place, place, why_void=_find_failure(codes, run)))
    return Reading(FORMAT, numbers, [make_time("time_s", "time")], case=_COMMAND, cases="arms")


def _find_failure(codes: list[Any], run: int) -> str:
    code = codes[run] if run < len(codes) else 0
    return f"exit code {code}" if code else ""


def _read_csv(file: File) -> Reading:
    table = parse(file)
    parameters = [name for name in table.header if name.startswith(_PARAMETER)]
    numbers = []
    for row, line in zip(table.rows, table.lines, strict=True):
        cells = dict(zip(table.header, row, strict=True))
        keys = {name.removeprefix(_PARAMETER): cells[name] for name in parameters} | {_COMMAND: cells[_COMMAND]}
        where = f"line {line}"
        numbers += [Number(metric.name, cells[metric.name], keys, where, where) for metric in _CSV_METRICS]
    left_out = {"spreads and extremes of other numbers": len(_LEFT_OUT) * len(table.rows)}
    return Reading(CSV, numbers, _CSV_METRICS, case=_COMMAND, cases="arms", left_out=left_out, notes=(_MEANS,))
