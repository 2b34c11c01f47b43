"""Text of ``cargo bench``: a line is the mean of a benchmark, so that a file is one run.

Rust's own benchmarks print ``test NAME ... bench: 1,234 ns/iter (+/- 56) = 78 MB/s``, criterion's
``NAME time: [LOW MEAN HIGH]``, the name on a line of its own where it is long.
"""

import re
from collections import Counter
from collections.abc import Iterator

from runoff.imports.values import File, FoundMetric, Number, Reading, make_time

FORMAT = "text of cargo bench"
_NAME = "benchmark"
_TIME = make_time("time_ns", "time per iteration", "ns")
_RATE = FoundMetric("throughput", "MB/s", "higher", "throughput")
_TEST = re.compile(
    r"^test (?P<name>.+?)\s+\.\.\. bench:\s+(?P<time>[\d,.]+) (?P<unit>\ws)/iter \(\+/- [\d,.]+\)"
    r"(?: = (?P<rate>[\d,.]+) MB/s)?\s*$"
)
_TIMED = re.compile(r"^time:\s+\[\S+ \S+ (?P<time>[\d.]+) (?P<unit>\S+) \S+ \S+\]$")
_TIME_OF = "time:"
_MEANS = "the text of cargo bench has means alone, so that a file is one run: target/criterion has every sample"
_LIMITS = "spreads and limits of other numbers"
_LEFT_OUT = (
    (_LIMITS, 1, re.compile(r"^test .* \(\+/- [\d,.]+\)")),
    (_LIMITS, 2, re.compile(r"time:\s+\[\d")),
    ("throughputs that are computed of the times", 3, re.compile(r"^\s+thrpt:\s+\[\d")),
    ("changes since an earlier run", 3, re.compile(r"^\s+(change|time|thrpt):\s+\[[-+]")),
)
"""What is not read, how many numbers of it a line has, and how it begins."""


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return any(_TEST.match(line) or _match_criterion(line) for line in file.text.splitlines())


def read(file: File) -> Reading:
    """Return its means. Raises UsageError."""
    numbers = list(_list_numbers(file))
    names = {number.metric for number in numbers}
    metrics = [metric for metric in (_TIME, _RATE) if metric.name in names]
    return Reading(
        FORMAT, numbers, metrics, case=_NAME, is_one_run=True, left_out=_count_left_out(file), notes=(_MEANS,)
    )


def _list_numbers(file: File) -> Iterator[Number]:
    before = ""
    for position, line in enumerate(file.text.splitlines(), 1):
        where = f"line {position}"
        if match := _TEST.match(line):
            keys = {_NAME: match["name"]}
            yield Number(_TIME.name, _drop_commas(match["time"]), keys, where, unit=match["unit"])
            if match["rate"]:
                yield Number(_RATE.name, _drop_commas(match["rate"]), keys, where)
        elif match := _match_criterion(line):
            name = line.rpartition(_TIME_OF)[0].strip() or before
            yield Number(_TIME.name, match["time"], {_NAME: name}, where, unit=match["unit"])
        before = line.strip()


def _count_left_out(file: File) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in file.text.splitlines():
        for reason, numbers, pattern in _LEFT_OUT:
            if pattern.search(line):
                found[reason] += numbers
    return found


def _match_criterion(line: str) -> re.Match[str] | None:
    _, found, rest = line.rpartition(_TIME_OF)
    return _TIMED.match(f"{found}{rest}".rstrip())


def _drop_commas(text: str) -> str:
    """Return a number without the commas that Rust prints between thousands."""
    return text.replace(",", "")
