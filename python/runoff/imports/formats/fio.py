"""fio's JSON (``--output-format=json``): a file is a run, with numbers for each job and direction."""

import json
from typing import Any

from runoff.imports import json_text
from runoff.imports.reading import File, FoundMetric, Measured, Reading, parse_number

FORMAT = "fio's JSON"
_DIRECTIONS = ("read", "write", "trim")
_P99 = "99.000000"


def recognise(file: File) -> bool:
    """Return whether it is of this format; fio may print lines before the document."""
    return '"fio version"' in file.text[:20_000]


def read(file: File) -> Reading:
    """Return its jobs. Raises UsageError."""
    start = file.text.find("{")
    metrics: dict[str, FoundMetric] = {}
    numbers = []
    for where, job in json_text.list_entries(File(file.name, file.text[start:]), "jobs"):
        case = json_text.take(job, "jobname", str, file, where)
        if job.get("error"):
            raise file.refuse(f"the job {case} ended with the error {json.dumps(job['error'])}")
        for direction in _DIRECTIONS:
            part = job.get(direction)
            if not isinstance(part, dict) or not part.get("total_ios"):
                continue
            for metric, value in _list_numbers(direction, part):
                metrics.setdefault(metric.name, metric)
                numbers.append(Measured(case, metric.name, parse_number(value, file, f"{where}.{direction}"), 0))
    return Reading(FORMAT, "workloads", list(metrics.values()), numbers, is_one_run=True)


def _list_numbers(direction: str, part: dict[str, Any]) -> list[tuple[FoundMetric, Any]]:
    found = [
        (FoundMetric(f"{direction}_iops", "1/s", "higher", f"{direction}s per second"), part.get("iops")),
        (FoundMetric(f"{direction}_bw", "B/s", "higher", f"{direction} bandwidth"), part.get("bw_bytes")),
    ]
    latency, completion = part.get("lat_ns") or {}, part.get("clat_ns") or {}
    found.append((FoundMetric(f"{direction}_lat_ns", "ns", "lower", f"mean {direction} latency"), latency.get("mean")))
    p99 = (completion.get("percentile") or {}).get(_P99)
    found.append((FoundMetric(f"{direction}_clat_p99_ns", "ns", "lower", f"99th percentile of {direction}s"), p99))
    return [(metric, value) for metric, value in found if value is not None]
