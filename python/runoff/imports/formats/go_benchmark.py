"""The Go benchmark format (``go test -bench``): a line is a run of its benchmark, with a number for each unit.

Lines ``key: value`` hold for the benchmarks after them. Specification: golang.org/design/14313-benchmark-format.
"""

import re
from collections.abc import Iterator

from runoff.imports.directions import find_direction
from runoff.imports.values import File, FoundMetric, Number, Reading
from runoff.results import Direction

FORMAT = "Go's benchmark format"
_NAME, _CPUS, _PACKAGE = "name", "cpus", "pkg"
_LINE = re.compile(
    r"^Benchmark(?P<name>\S*?)(?:-(?P<cpus>\d+))?[ \t]+\d+(?P<numbers>(?:[ \t]+[\d.e+-]+[ \t]+\S+)+)\s*$"
)
_KEY = re.compile(r"^(?P<key>[a-z][^\sA-Z:]*):[ \t]*(?P<value>.*?)\s*$")
_UNIT = re.compile(r"^Unit\s+(\S+)\s.*\bbetter=(higher|lower)\b", re.MULTILINE)
_KNOWN = {
    "ns/op": FoundMetric("ns_per_op", "ns", "lower", "time per operation"),
    "B/op": FoundMetric("B_per_op", "B", "lower", "memory per operation"),
    "allocs/op": FoundMetric("allocs_per_op", "", "lower", "allocations per operation"),
    "MB/s": FoundMetric("MB_per_s", "MB/s", "higher", "throughput"),
}


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return any(_LINE.match(line) for line in file.text.splitlines() if line.startswith("Benchmark"))


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    better = {match[1]: match[2] for match in _UNIT.finditer(file.text)}
    metrics: dict[str, FoundMetric] = {}
    about: dict[str, str] = {}
    numbers = []
    for position, line in enumerate(file.text.splitlines(), 1):
        where = f"line {position}"
        if match := _LINE.match(line):
            # Without a number behind its name a benchmark ran on one CPU.
            keys = {**about, _CPUS: match["cpus"] or "1", _NAME: match["name"]}
            for text, unit in _pair(match["numbers"].split()):
                metric = metrics.setdefault(unit, _describe(unit, better.get(unit)))
                numbers.append(Number(metric.name, text, keys, where, where))
        elif match := _KEY.match(line):
            about[match["key"]] = match["value"]
    parts = frozenset((_PACKAGE, _CPUS))
    return Reading(FORMAT, numbers, list(metrics.values()), case=_NAME, parts=parts)


def _pair(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


def _describe(unit: str, better: str | None) -> FoundMetric:
    if unit in _KNOWN:
        return _KNOWN[unit]
    side: Direction | None = "higher" if better == "higher" else "lower" if better else None
    name = re.sub(r"\W+", "_", unit).strip("_")
    metric = FoundMetric(name, unit, side, unit)
    # "X/op" counts X for each operation, of which less is better.
    return FoundMetric(name, unit, side or ("lower" if unit.endswith("/op") else find_direction(metric)), unit)
