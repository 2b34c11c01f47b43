"""The Go benchmark format (``go test -bench``): a line is a run of its benchmark, with a number for each unit.

Specification: golang.org/design/14313-benchmark-format.
"""

import re
from collections import Counter
from collections.abc import Iterator

from runoff.imports.reading import File, FoundMetric, Measured, Reading, guess_direction, parse_number
from runoff.results import Direction

FORMAT = "Go's benchmark format"
_LINE = re.compile(r"^Benchmark(\S*?)(?:-\d+)?[ \t]+\d+((?:[ \t]+[\d.e+-]+[ \t]+\S+)+)[ \t\r]*$", re.MULTILINE)
_UNIT = re.compile(r"^Unit\s+(\S+)\s.*\bbetter=(higher|lower)\b", re.MULTILINE)
_KNOWN = {
    "ns/op": FoundMetric("ns_per_op", "ns", "lower", "time per operation"),
    "B/op": FoundMetric("B_per_op", "B", "lower", "memory per operation"),
    "allocs/op": FoundMetric("allocs_per_op", "", "lower", "allocations per operation"),
    "MB/s": FoundMetric("MB_per_s", "MB/s", "higher", "throughput"),
}


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return bool(_LINE.search(file.text))


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    better = {match[1]: match[2] for match in _UNIT.finditer(file.text)}
    metrics: dict[str, FoundMetric] = {}
    runs: Counter[str] = Counter()
    numbers = []
    for match in _LINE.finditer(file.text):
        case = match[1]
        for text, unit in _pair(match[2].split()):
            metric = metrics.setdefault(unit, _describe(unit, better.get(unit)))
            numbers.append(Measured(case, metric.name, parse_number(text, file, f"Benchmark{case}"), runs[case]))
        runs[case] += 1
    return Reading(FORMAT, "workloads", list(metrics.values()), numbers)


def _pair(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


def _describe(unit: str, better: str | None) -> FoundMetric:
    direction: Direction | None = "higher" if better == "higher" else "lower" if better else guess_direction(unit)
    return _KNOWN.get(unit) or FoundMetric(re.sub(r"\W+", "_", unit).strip("_"), unit, direction, unit)
