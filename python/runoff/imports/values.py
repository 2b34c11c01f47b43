"""What is read from one file: numbers, each with everything that the file says beside it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from runoff.errors import UsageError
from runoff.results import Direction

Cases = Literal["arms", "workloads"]

Role = Literal["arm", "workload", "load", "run", "block", "machine", "status", "reason", "ignore"]
"""What a key of a number can stand for."""

MOST_VALUES = 1_000_000
"""Values in a file, for each of which an import takes some hundred bytes of memory."""
SMALLEST, LARGEST = 1e-100, 1e100
"""Numbers whose squares, sums and ratios are numbers too."""


@dataclass(frozen=True, slots=True)
class FoundMetric:
    """A metric as a file describes it."""

    name: str
    unit: str = ""
    direction: Direction | None = None
    """None where the file does not say which way is better."""
    title: str = ""
    """Empty means the name."""
    is_headline: bool = True
    """Whether it gets a verdict on the screen, if it has a direction."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a file."""

    metric: str
    """Name of its metric; empty for a run that has no number because it failed."""
    value: object
    """As the file has it: a number, or its text; an empty text where there is none."""
    keys: Mapping[str, str]
    """Everything that the file says beside it and that tells it from other numbers, by the file's own words."""
    where: str
    """The place in the file, for messages: ``line 12``."""
    run: str | None = None
    """Numbers of one run and equal keys belong to one sample. None: the first number of each metric with these keys is
    of the first run, the second of the second."""
    unit: str | None = None
    """None means the metric's."""
    why_void: str = ""
    """Why it does not count, where the format itself says that."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of one file."""

    format: str
    """Name for people, such as "hyperfine's JSON"."""
    numbers: Sequence[Number]
    metrics: Sequence[FoundMetric]
    case: str = ""
    """The key that says what was measured, such as ``command``; empty if the file does not say that."""
    cases: Cases = "workloads"
    """What the values of ``case`` are in a single file."""
    roles: Mapping[Role, tuple[str, ...]] = field(default_factory=dict)
    """What other keys stand for, unless the user says something else."""
    parts: frozenset[str] = frozenset()
    """Keys that are a part of the benchmark's name: numbers that differ in them are never compared."""
    is_one_run: bool = False
    """Whether the whole file is one run."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Numbers that are not read, by the reason."""
    notes: tuple[str, ...] = ()
    """What a reader of the results has to know."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to be read."""

    name: str
    """For messages: the path as it was given."""
    text: str

    def refuse(self, why: str) -> UsageError:
        """Return the error to raise."""
        return UsageError(f"{self.name}: {why}")


def refuse_too_many(values: int, file: File) -> None:
    """Raise UsageError for more values than an import can have."""
    if values > MOST_VALUES:
        raise file.refuse(f"it has more than {MOST_VALUES:,} values: give a part of it")


def make_time(name: str, title: str, unit: str = "s") -> FoundMetric:
    """Return a metric of time."""
    return FoundMetric(name, unit, "lower", title)


def parse_number(text: object, file: File, where: str) -> float:
    """Return a finite number. Raises UsageError that says ``where`` there is none."""
    try:
        value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if math.isfinite(value) and value and not SMALLEST <= abs(value) <= LARGEST:
        raise file.refuse(f"{where} has {str(text)[:60]}, which no measurement gives: {SMALLEST:g} to {LARGEST:g}")
    if isinstance(text, bool) or not math.isfinite(value) or (isinstance(text, str) and "_" in text):
        raise file.refuse(f"{where} has {str(text)[:60]!r}, which is not a number{_explain(text)}")
    return value


def _explain(text: object) -> str:
    is_with_comma = isinstance(text, str) and text.replace(",", "").replace(".", "").strip().isdecimal()
    return ": write it with a point and without other separators" if is_with_comma else ""
