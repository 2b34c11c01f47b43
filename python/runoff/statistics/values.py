"""The values statistics takes and returns; this module computes nothing and imports no numerics."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from runoff.results import Direction

DEFAULT_ALPHA = 0.05
"""Family-wise error over all pairs of one metric."""

DEFAULT_MARGIN = 0.02
"""Equivalence margin as a fraction of the baseline mean."""


class Verdict(StrEnum):
    """One glyph per answer, so that no view needs colour to tell them apart."""

    BETTER = "+"
    WORSE = "-"
    SAME = "="
    UNCLEAR = "?"
    VOID = "!"

    @property
    def word(self) -> str:
        """The glyph in a word: better, worse, same, unclear or void."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Observation:
    """One valid sample's value of the metric."""

    value: float
    """Finite, in the metric's unit."""
    position: int
    """Place in the campaign's run order."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the observations."""

    baseline: str
    direction: Direction
    alpha: float = DEFAULT_ALPHA
    margin: float = DEFAULT_MARGIN
    repeats_exactly: bool = False
    """The engine is deterministic and no metric of any arm changed between blocks: the samples are
    copies of one run, so their number is no evidence."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval."""

    low: float
    high: float

    def inside(self, low: float, high: float) -> bool:
        """Whether all of it lies in [low, high]."""
        return low <= self.low and self.high <= high


@dataclass(frozen=True, slots=True)
class Summary:
    """One arm's distribution, in the metric's unit."""

    arm: str
    n: int
    mean: float
    sd: float | None
    """Sample standard deviation (n - 1); None for a single value."""
    ci: Interval | None
    """95 % (1 - alpha) confidence interval of the mean from the arm's own SD and Student's t."""
    minimum: float
    q10: float
    q25: float
    median: float
    q75: float
    q90: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Anova:
    """One-way analysis of variance."""

    df_between: int
    df_within: int
    sd_pooled: float
    """Root of the mean square within arms, in the metric's unit."""
    f: float | None
    """None where no arm has any spread, so that F is not defined."""
    p: float | None
    r_squared: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms by Tukey-Kramer; differences are ``second - first`` in the metric's unit."""

    first: str
    second: str
    difference: float
    interval: Interval | None
    """Simultaneous over all pairs of the metric; None without a spread to measure against."""
    p: float | None
    """Adjusted for all pairs."""
    p_unpooled: float | None
    """Games-Howell: the same question without assuming equal variances; only where they are not equal."""
    separated: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """One arm against the baseline."""

    arm: str
    difference: float | None
    """``arm - baseline`` in the metric's unit; None if either has no valid sample."""
    interval: Interval | None
    percent: float | None
    """``100 * (arm - baseline) / baseline``; None wherever ``Analysis.relative`` is false."""
    percent_interval: Interval | None
    p: float | None
    verdict: Verdict | None
    """None for the baseline itself and for metrics without a direction."""


@dataclass(frozen=True, slots=True)
class Warning:
    """A reason not to believe a number, and what to do about it."""

    kind: Literal["few", "copies", "constant", "spread", "drift", "baseline", "resolution"]
    text: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the samples of one metric support."""

    question: Question
    summaries: Mapping[str, Summary]
    """By arm, in plan order; arms without a valid sample are missing."""
    anova: Anova | None
    """None with fewer than two arms or no replicated arm."""
    pairs: tuple[Pair, ...]
    comparisons: Mapping[str, Comparison]
    """By arm, in plan order, all arms."""
    letters: Mapping[str, str]
    """Arms that share a letter are not separated; empty where nothing was tested."""
    relative: bool
    """Whether differences are also given in percent of the baseline."""
    warnings: tuple[Warning, ...]
