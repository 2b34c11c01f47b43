"""What is read from one file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from runoff.errors import UsageError
from runoff.results import Direction
from runoff.units import TIME_EXPONENTS

Cases = Literal["arms", "workloads"]

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


@dataclass(frozen=True, slots=True)
class Measured:
    """One number; those of one case, run and block belong to one sample."""

    case: str
    """What the file calls what was measured: a command, a benchmark, a column."""
    metric: str
    value: float
    run: int
    """Number of the run among those of its case."""
    block: str | None = None
    """What was measured together; None where the file does not say."""
    workload: str = ""
    """Where a file has both arms and workloads: its cases are arms then."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of one file."""

    format: str
    """Name for people, such as "hyperfine's JSON"."""
    cases: Cases
    """What the cases of a single file are."""
    metrics: Sequence[FoundMetric]
    numbers: Sequence[Measured]
    is_one_run: bool = False
    """The whole file is of one run."""
    notes: tuple[str, ...] = field(default=())
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


def make_time(name: str, title: str, unit: str = "s") -> FoundMetric:
    """Return a metric of time."""
    return FoundMetric(name, unit, "lower", title)


def guess_direction(unit: str) -> Direction | None:
    """Return which way is better by the unit alone; None where that says nothing."""
    if unit in TIME_EXPONENTS or unit.endswith("/op"):
        return "lower"
    return "higher" if unit.endswith("/s") or unit in ("fps", "FPS", "Hz", "IOPS", "iops") else None


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
