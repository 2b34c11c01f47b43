"""Google Benchmark's JSON (``--benchmark_format=json``): each repetition of a benchmark is a run."""

import re
from collections import Counter
from typing import Any

from runoff.imports import json_text
from runoff.imports.values import File, FoundMetric, Number, Reading, make_time
from runoff.units import TIME

FORMAT = "Google Benchmark's JSON"
_NAME = "name"
_TIMES = {"real_time": "real time", "cpu_time": "CPU time"}
_RATES = {
    "items_per_second": FoundMetric("items_per_second", "1/s", "higher", "items per second"),
    "bytes_per_second": FoundMetric("bytes_per_second", "B/s", "higher", "bytes per second"),
}
_ABOUT = {"iterations", "repetitions", "repetition_index", "threads", "family_index", "per_family_instance_index"}
"""Numbers that say how it was measured."""
_KEYS = ("threads", "label")
_OF_MACHINE = ("host_name", "num_cpus", "library_build_type")
_STATISTICS = re.compile(r"_(?:mean|median|stddev|cv|BigO|RMS)$")


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "context", "benchmarks", "time_unit", "real_time")


def read(file: File) -> Reading:
    """Return its repetitions. Raises UsageError."""
    document = json_text.parse(file)
    about = json_text.list_texts(document.get("context"), *_OF_MACHINE) if isinstance(document, dict) else {}
    benchmarks = json_text.take(document, "benchmarks", list, file, "it")
    names = {each.get(_NAME) for each in benchmarks if isinstance(each, dict)}
    metrics: dict[str, FoundMetric] = {}
    left_out: Counter[str] = Counter()
    numbers: list[Number] = []
    for position, each in enumerate(benchmarks):
        where = f"benchmarks[{position}]"
        name = json_text.take(each, "run_name" if "run_name" in each else _NAME, str, file, where)
        keys = {**about, **json_text.list_texts(each, *_KEYS), _NAME: name}
        if each.get("error_occurred"):
            why = str(each.get("error_message") or "error")
            numbers.append(Number("", "", keys, where, where, why_void=why))
            continue
        values = _list_numbers(each)
        if _is_statistic(each, names):
            left_out["aggregates of other numbers"] += len(values)
            continue
        for key, value in values.items():
            metrics.setdefault(key, _describe(key))
            unit = _find_unit(each, file) if key in _TIMES else None
            numbers.append(Number(key, value, keys, f"{where}.{key}", where, unit))
    if not metrics and left_out:
        raise file.refuse("it has aggregates only: run without --benchmark_report_aggregates_only")
    return Reading(FORMAT, numbers, list(metrics.values()), case=_NAME, parts=frozenset(_KEYS), left_out=left_out)


def _is_statistic(benchmark: dict[str, Any], names: set[Any]) -> bool:
    """Return whether it is a mean or the like of other entries; before version 1.5 only its name tells that."""
    if "run_type" in benchmark:
        return bool(benchmark["run_type"] != "iteration")
    name = str(benchmark.get(_NAME))
    return bool(_STATISTICS.search(name)) and _STATISTICS.sub("", name) in names


def _list_numbers(benchmark: dict[str, Any]) -> dict[str, float]:
    return {
        key: value
        for key, value in benchmark.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and key not in _ABOUT
    }


def _describe(key: str) -> FoundMetric:
    return make_time(key, _TIMES[key]) if key in _TIMES else _RATES.get(key, FoundMetric(key))


def _find_unit(benchmark: dict[str, Any], file: File) -> str:
    unit = benchmark.get("time_unit")
    if not isinstance(unit, str) or unit not in TIME:
        raise file.refuse(f"{benchmark.get(_NAME)} has the time_unit {unit!r}, which is not known")
    return unit
