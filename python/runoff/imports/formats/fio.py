"""fio's JSON (``--output-format=json``): a file is a run, with numbers for each job and direction.

Jobs of one name, as ``numjobs`` makes them, are one: their rates are added up, mean latencies are weighted by the
number of requests, and of percentiles the worst job's counts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from runoff.imports import json_text
from runoff.imports.values import File, FoundMetric, Number, Reading, parse_number
from runoff.results import Direction

FORMAT = "fio's JSON"
_NAME = "jobname"
_DIRECTIONS = ("read", "write", "trim", "mixed")
_OPTIONS = ("rw", "bs", "iodepth", "ioengine", "size", "numjobs", "direct")
_P99 = "99.000000"
_NOTE = (
    "jobs of one name are one: rates are added up, latencies are the mean over requests, percentiles the worst job's"
)
_IDLE = "no request was served"
_JOINED = "part of a sum, mean or maximum over jobs"

_Part = tuple[float, float]
"""The number of one job, and how many requests it had."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A number that each direction of a job has."""

    name: str
    unit: str
    title: str
    find: Callable[[dict[str, Any]], Any]
    join: Callable[[Sequence[_Part]], float]
    """Makes one number of those of several jobs."""

    def describe(self, direction: str) -> FoundMetric:
        side: Direction = "higher" if self.join is _add else "lower"
        return FoundMetric(f"{direction}_{self.name}", self.unit, side, self.title.format(direction))


def _add(parts: Sequence[_Part]) -> float:
    return sum(value for value, _ in parts)


def _average(parts: Sequence[_Part]) -> float:
    if len(parts) == 1:
        return parts[0][0]
    return sum(value * requests for value, requests in parts) / sum(requests for _, requests in parts)


def _find_worst(parts: Sequence[_Part]) -> float:
    return max(value for value, _ in parts)


def _find_percentile(latency: str) -> Callable[[dict[str, Any]], Any]:
    return lambda part: ((part.get(latency) or {}).get("percentile") or {}).get(_P99)


_KINDS = (
    _Kind("iops", "1/s", "{}s per second", lambda part: part.get("iops"), _add),
    _Kind("bw", "B/s", "{} bandwidth", lambda part: part.get("bw_bytes"), _add),
    _Kind("lat_ns", "ns", "mean {} latency", lambda part: (part.get("lat_ns") or {}).get("mean"), _average),
    _Kind("clat_p99_ns", "ns", "99th percentile of {}s", _find_percentile("clat_ns"), _find_worst),
    _Kind("lat_p99_ns", "ns", "99th percentile of {}s from their submission", _find_percentile("lat_ns"), _find_worst),
)


def recognise(file: File) -> bool:
    """Return whether it is of this format; fio may print lines before the document and behind it."""
    return '"fio version"' in file.text[:20_000]


def read(file: File) -> Reading:
    """Return its jobs. Raises UsageError."""
    document = json_text.parse(File(file.name, json_text.cut_document(file.text)))
    shared = json_text.list_texts(document.get("global options"), *_OPTIONS) if isinstance(document, dict) else {}
    jobs: dict[tuple[tuple[str, str], ...], list[tuple[str, Any]]] = {}
    for position, job in enumerate(json_text.take(document, "jobs", list, file, "it")):
        where = f"jobs[{position}]"
        name = json_text.take(job, _NAME, str, file, where)
        keys = {**shared, **json_text.list_texts(job.get("job options"), *_OPTIONS), _NAME: name}
        jobs.setdefault(tuple(keys.items()), []).append((where, job))
    metrics: dict[str, FoundMetric] = {}
    numbers: list[Number] = []
    joined = 0
    for texts, own in jobs.items():
        keys = dict(texts)
        failed = next((f"{where}: error {job['error']}" for where, job in own if job.get("error")), "")
        found = list(_list_numbers(own, file))
        for metric, value, place, parts in found:
            metrics.setdefault(metric.name, metric)
            numbers.append(Number(metric.name, value, keys, place, why_void=failed))
            joined += parts - 1
        if failed or not found:
            numbers.append(Number("", "", keys, own[0][0], why_void=failed or _IDLE))
    return Reading(
        FORMAT,
        numbers,
        list(metrics.values()),
        case=_NAME,
        is_one_run=True,
        left_out={_JOINED: joined} if joined else {},
        notes=(_NOTE,) if joined else (),
    )


def _list_numbers(jobs: Sequence[tuple[str, Any]], file: File) -> Iterator[tuple[FoundMetric, float, str, int]]:
    """Yield each number of the jobs of one name, where it is, and of how many jobs it is."""
    for direction in _DIRECTIONS:
        for kind in _KINDS:
            parts = [
                (parse_number(value, file, f"{where}.{direction}"), float(part["total_ios"]))
                for where, job in jobs
                if (part := _find_part(job, direction)) and (value := kind.find(part)) is not None
            ]
            if parts:
                yield kind.describe(direction), kind.join(parts), f"{jobs[0][0]}.{direction}", len(parts)


def _find_part(job: dict[str, Any], direction: str) -> dict[str, Any] | None:
    """Return what is known of a direction in which requests were served."""
    part = job.get(direction)
    return part if isinstance(part, dict) and part.get("total_ios") else None
