"""What cyclictest found: its lines for each thread, the end of its histogram, or its JSON. A file is one run.

The worst latency is that of the worst thread, and the mean is over all cycles. Latencies are in microseconds, with
``-N`` in nanoseconds, which the file does not say.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runoff.imports import json_text
from runoff.imports.values import File, FoundMetric, Number, Reading, parse_number

FORMAT = "cyclictest's latencies"
_WORST = FoundMetric("latency_max", "us", "lower", "worst latency")
_MEAN = FoundMetric("latency_avg", "us", "lower", "mean latency")
_LINE = re.compile(
    r"T:\s*(?P<thread>\d+) \(\s*\d+\) P:\s*\d+ I:\s*\d+ C:\s*(?P<cycles>\d+) "
    r"Min:\s*\d+ Act:\s*-?\d+ Avg:\s*(?P<mean>\d+) Max:\s*(?P<worst>\d+)"
)
_ENDS = {"Total", "Avg Latencies", "Max Latencies", "Histogram Overflows"}
_END = re.compile(r"^# (?P<name>" + "|".join(sorted(_ENDS)) + r"): (?P<values>[\d ]+)$", re.MULTILINE)
_BIN = re.compile(r"^\d{6}(?:[ \t]\d+)+\s*$", re.MULTILINE)
_KEYS = ("cycles", "avg", "max")
_JOINED = "part of a maximum or mean over threads"
_BINS = "bins of the histogram"


@dataclass(frozen=True, slots=True)
class _Thread:
    cycles: float
    mean: float
    worst: float


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    ends = {match["name"] for match in _END.finditer(file.text)}
    return bool(_LINE.search(file.text)) or ends >= _ENDS or _is_json(file.text)


def read(file: File) -> Reading:
    """Return its run. Raises UsageError."""
    threads = [thread for thread in _list_threads(file) if thread.cycles]
    if not threads:
        raise file.refuse("it has no thread that was ever woken")
    worst = max(thread.worst for thread in threads)
    mean = sum(thread.mean * thread.cycles for thread in threads) / sum(thread.cycles for thread in threads)
    left_out = {_JOINED: 2 * (len(threads) - 1), _BINS: len(_BIN.findall(file.text)) * len(threads)}
    return Reading(
        FORMAT,
        [Number(_WORST.name, worst, {}, "its worst latency"), Number(_MEAN.name, mean, {}, "its mean latency")],
        [_WORST, _MEAN],
        is_one_run=True,
        left_out=left_out,
    )


def _is_json(text: str) -> bool:
    return json_text.looks_like(text, "file_version", "rt_test_version:", "thread")


def _list_threads(file: File) -> Iterator[_Thread]:
    if _is_json(file.text):
        threads = json_text.take(json_text.parse(file), "thread", dict, file, "it")
        for name, thread in threads.items():
            yield _Thread(*(json_text.take_number(thread, key, file, f"thread {name}") for key in _KEYS))
        return
    ends = {match["name"]: match["values"].split() for match in _END.finditer(file.text)}
    if ends.keys() >= _ENDS:
        yield from _list_columns(ends, file)
        return
    # A running program writes the line of a thread again and again: the last one is of its end.
    last = {match["thread"]: match for match in _LINE.finditer(file.text)}
    for match in last.values():
        yield _make_thread([match["cycles"], match["mean"], match["worst"]], file)


def _list_columns(ends: dict[str, list[str]], file: File) -> Iterator[_Thread]:
    """Yield the threads of a histogram, whose cycles are those in its bins and those beyond them."""
    count = len(ends["Max Latencies"])
    if any(len(ends[name]) < count for name in _ENDS):
        raise file.refuse("the lines at the end of its histogram are of different numbers of threads")
    for thread in range(count):
        cycles = sum(parse_number(ends[name][thread], file, f"# {name}") for name in ("Total", "Histogram Overflows"))
        yield _make_thread([cycles, ends["Avg Latencies"][thread], ends["Max Latencies"][thread]], file)


def _make_thread(values: Sequence[object], file: File) -> _Thread:
    return _Thread(*(parse_number(value, file, "the line of a thread") for value in values))
