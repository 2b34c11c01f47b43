"""``perf stat -x,``: a line is an event's count; each time that the events begin anew (``--append``) is a run."""

import csv
import re
from collections import Counter

from runoff.imports.reading import File, FoundMetric, Measured, Reading, parse_number

FORMAT = "perf stat's fields"
_NOT_COUNTED = ("<not counted>", "<not supported>")
_TIMES = {"msec": "ms", "ns": "ns", "ms": "ms"}
_LINE = re.compile(
    r"^(?:[\d.]+|<not counted>|<not supported>)([,;|\t])([^,;|\t]*)\1([A-Za-z][\w:./=-]*)\1[\d.]+%?\1", re.MULTILINE
)
_REPEATED = "with -r perf keeps the mean alone: the file has one run; take single runs with --append for a verdict"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return bool(_LINE.search(file.text[:20_000]))


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    first = _LINE.search(file.text)
    assert first is not None, "it was recognised"
    lines = [line for line in file.text.splitlines() if _LINE.match(line)]
    metrics: dict[str, FoundMetric] = {}
    runs: Counter[str] = Counter()
    numbers = []
    notes: tuple[str, ...] = ()
    for fields in csv.reader(lines, delimiter=first[1]):
        count, unit, event = fields[0], fields[1].strip(), fields[2]
        if len(fields) > 3 and fields[3].endswith("%"):
            notes = (_REPEATED,)
        run = runs[event]
        runs[event] += 1
        if count in _NOT_COUNTED:
            continue
        name = re.sub(r"\W+", "_", event).strip("_")
        metrics.setdefault(name, _describe(name, unit, event))
        numbers.append(Measured("", name, parse_number(count, file, event), run))
    return Reading(FORMAT, "workloads", list(metrics.values()), numbers, notes=notes)


def _describe(name: str, unit: str, event: str) -> FoundMetric:
    """Return the event as a metric: of times less is better, of other counts nothing is known."""
    return FoundMetric(name, _TIMES.get(unit, unit), "lower" if unit in _TIMES else "none", event)
