"""``perf stat -x,`` and ``-j``: a line is the count of an event; each time that the events begin anew is a run.

In the first form a line is ``[time,][part,number,]count,unit,event,[group,]...``: the time of an interval (``-I``), the
socket, core or CPU (``--per-socket`` ...), a control group (``--for-each-cgroup``).
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runoff.imports.values import File, FoundMetric, Number, Reading
from runoff.separated import is_number
from runoff.units import TIME, name_canonical

FORMAT = "perf stat's fields"
_NOT_COUNTED = ("<not counted>", "<not supported>")
_EVENT = re.compile(r"[A-Za-z][\w:./=,@*-]*")
_PART = re.compile(r"(?:S|N|D|CPU|C)\d+(?:-\w+)*|[\w.-]+-\d+")
_ENERGY = "Joules"
_SUMMARY = "summary"
"""In place of an interval: the sum of all."""
_OF_JSON = ("socket", "die", "core", "cpu", "node", "thread", "cgroup")
_DELIMITERS = ",;|\t"
_REPEATED = "with -r perf keeps the mean alone: the file has one run; take single runs with --append for a verdict"
_INTERVALS = "intervals of one process: what differs between processes is not in their spread"


@dataclass(frozen=True, slots=True)
class _Count:
    """One line."""

    count: str
    unit: str
    event: str
    keys: Mapping[str, str]
    where: str
    interval: str | None = None
    is_mean: bool = False


def recognise(file: File) -> bool:
    """Return whether it is of this format: all of its lines have to be."""
    lines = [line for _, line in _list_lines(file)]
    return bool(lines) and (_is_json(lines) or all(_parse_line(line, "") is not None for line in lines))


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    read_ones = [_require(_parse_line(line, f"line {number}"), number, file) for number, line in _list_lines(file)]
    counts = [each for each in read_ones if each.interval != _SUMMARY]
    sums = len(read_ones) - len(counts)
    metrics: dict[str, FoundMetric] = {}
    numbers = []
    for each in counts:
        name = re.sub(r"\W+", "_", each.event).strip("_")
        metrics.setdefault(name, _describe(name, each))
        is_counted = each.count not in _NOT_COUNTED
        value, why = (each.count, "") if is_counted else ("", each.count.strip("<>"))
        unit = name_canonical(each.unit) if is_counted else None
        numbers.append(Number(name, value, each.keys, each.where, each.interval, unit, why))
    notes = [_REPEATED] if any(each.is_mean for each in counts) else []
    notes += [_INTERVALS] if any(each.interval is not None for each in counts) else []
    parts = frozenset(key for each in counts for key in each.keys)
    left_out = {"sums of the intervals": sums} if sums else {}
    return Reading(FORMAT, numbers, list(metrics.values()), parts=parts, left_out=left_out, notes=tuple(notes))


def _require(count: _Count | None, number: int, file: File) -> _Count:
    if count is None:
        raise file.refuse(f"line {number} is not one that perf stat writes")
    return count


def _list_lines(file: File) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file.text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


def _is_json(lines: Sequence[str]) -> bool:
    return all(line.lstrip().startswith("{") and '"counter-value"' in line and '"event"' in line for line in lines)


def _parse_line(line: str, where: str) -> _Count | None:
    return _parse_json(line, where) if line.lstrip().startswith("{") else _parse_fields(line, where)


def _parse_json(line: str, where: str) -> _Count | None:
    try:
        found = {key: str(value) for key, value in json.loads(line).items()}
        count, event = found["counter-value"], found["event"]
    except (ValueError, KeyError, AttributeError, RecursionError):
        return None
    keys = {key: found[key] for key in _OF_JSON if key in found}
    interval = found.get("interval")
    return _Count(count, found.get("unit", ""), event, keys, where, interval, is_mean="variance" in found)


def _parse_fields(line: str, where: str) -> _Count | None:
    delimiter = next((each for each in _DELIMITERS if line.count(each) >= len(("unit", "event", "runtime"))), ",")
    try:
        fields = next(csv.reader([line], delimiter=delimiter))
    except csv.Error:
        return None
    start = next((place for place in range(min(4, len(fields) - 3)) if _is_count(fields[place:])), None)
    if start is None:
        return None
    before, (count, unit, event, *after) = fields[:start], fields[start:]
    keys = {}
    begins = before[0].strip() if before else ""
    interval = before.pop(0).strip() if is_number(begins) or begins == _SUMMARY else None
    if before and _PART.fullmatch(before[0].strip()):
        keys["part"] = before[0].strip()
    elif before:
        return None
    if after and not is_number(after[0].rstrip("%")) and after[0].strip():
        keys["cgroup"] = after.pop(0).strip()
    is_mean = bool(after) and after[0].endswith("%")
    return _Count(count.strip(), unit.strip(), event.strip(), keys, where, interval, is_mean)


def _is_count(fields: Sequence[str]) -> bool:
    """Return whether a count, its unit and its event begin here."""
    count, unit, event = (field.strip() for field in fields[:3])
    is_value = is_number(count) or count in _NOT_COUNTED
    is_unit = not is_number(unit) and unit not in _NOT_COUNTED
    return is_value and is_unit and bool(_EVENT.fullmatch(event)) and _ends_as_counted(fields[3:])


def _ends_as_counted(after: Sequence[str]) -> bool:
    """Return whether a time and a share, with a spread or a group before them, stand behind the event."""
    numbers = [field for field in after if is_number(field.strip().rstrip("%"))]
    return len(numbers) >= len(("runtime", "share"))


def _describe(name: str, count: _Count) -> FoundMetric:
    """Return the event as a metric: of time and energy less is better, of other counts nothing is known."""
    unit = name_canonical(count.unit)
    return FoundMetric(name, unit, "lower" if unit in (*TIME, _ENERGY) else "none", count.event)
