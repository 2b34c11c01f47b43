"""Google Benchmark's JSON (``--benchmark_format=json``): each repetition of a benchmark is a run."""

from collections import Counter
from typing import Any

from runoff.imports import json_text
from runoff.imports.reading import File, FoundMetric, Measured, Reading, make_time, parse_number
from runoff.units import TIME_EXPONENTS, scale_time

FORMAT = "Google Benchmark's JSON"
_TIMES = {"real_time": "real time", "cpu_time": "CPU time"}
_RATES = {
    "items_per_second": FoundMetric("items_per_second", "1/s", "higher", "items per second"),
    "bytes_per_second": FoundMetric("bytes_per_second", "B/s", "higher", "bytes per second"),
}
_ABOUT = {"iterations", "repetitions", "repetition_index", "threads", "family_index", "per_family_instance_index"}
"""Numbers that say how it was measured."""


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "context", "benchmarks", "time_unit", "real_time")


def read(file: File) -> Reading:
    """Return its repetitions. Raises UsageError."""
    benchmarks = json_text.list_entries(file, "benchmarks")
    single = [(where, each) for where, each in benchmarks if each.get("run_type", "iteration") == "iteration"]
    if not single:
        raise file.refuse("it has aggregates only: run without --benchmark_report_aggregates_only")
    metrics: dict[str, FoundMetric] = {}
    runs: Counter[str] = Counter()
    numbers = []
    for where, each in single:
        case = json_text.take(each, "run_name" if "run_name" in each else "name", str, file, where)
        if each.get("error_occurred"):
            raise file.refuse(f"{case} failed: {each.get('error_message', '')}".rstrip(": "))
        for key, value in _list_numbers(each).items():
            metrics.setdefault(key, _describe(key))
            parsed = parse_number(value, file, f"{where}.{key}")
            numbers.append(Measured(case, key, _scale(key, parsed, each, file), runs[case]))
        runs[case] += 1
    return Reading(FORMAT, "workloads", list(metrics.values()), numbers)


def _list_numbers(benchmark: dict[str, Any]) -> dict[str, float]:
    return {
        key: value
        for key, value in benchmark.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and key not in _ABOUT
    }


def _describe(key: str) -> FoundMetric:
    return make_time(key, _TIMES[key]) if key in _TIMES else _RATES.get(key, FoundMetric(key))


def _scale(key: str, value: float, benchmark: dict[str, Any], file: File) -> float:
    """Return times in seconds."""
    if key not in _TIMES:
        return value
    unit = benchmark.get("time_unit")
    if unit not in TIME_EXPONENTS:
        raise file.refuse(f"{benchmark.get('name')} has the time_unit {unit!r}, which is not known")
    return scale_time(value, unit)
