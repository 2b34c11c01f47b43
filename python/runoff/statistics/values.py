"""The values statistics takes and returns; this module imports no numerics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal

from runoff.results import Direction, StoppingRule

DEFAULT_ALPHA = 0.05
"""Error over all comparisons of one metric with the baseline together."""

DEFAULT_MARGIN = 0.02
"""Equivalence margin as a fraction of the baseline."""

DEFAULT_RARE = 0.05
"""What hits this share of the runs has to be seen with 90 % chance before an arm is called the same."""

LEAST_BLOCKS = 10
"""No arm is called the same with fewer, however often what may go unseen happens. Another rule than FIRST_LOOK:
that is about looking again and again, and both are 10 by chance."""

HETEROGENEITY_ALPHA = 0.05
"""Below this p the change of an arm is said to differ between machines."""

DECIDED = 0.8
"""Chance of a verdict that advice is given for."""


MOST_BLOCKS = 100_000
"""Advice that would need more blocks says so."""

LARGEST_LOG = 690.0
"""Percent of a larger logarithm leave the range of floating point."""


def to_percent(log: float) -> float:
    """Return the change in percent that a difference of logarithms is."""
    return 100 * math.expm1(min(log, LARGEST_LOG))


class Verdict(StrEnum):
    """One glyph per answer, so that no view needs colour to tell them apart."""

    BETTER = "+"
    WORSE = "-"
    SAME = "="
    SMALL = "~"
    """A difference is within the margin for certain, in blocks too few to call the arm the same."""
    MIXED = "x"
    """Machines disagree: better on some and worse on others, or within the margin over all and not on some."""
    UNCLEAR = "?"
    VOID = "!"
    PENDING = "."
    """No sample has been taken yet."""
    ABSENT = "/"
    """Imported files have numbers of one of the two arms alone."""

    @property
    def word(self) -> str:
        """The glyph in a word: better, worse, same, small, mixed, unclear, void, pending or absent."""
        return self.name.lower()


OPEN = (Verdict.UNCLEAR, Verdict.SMALL)
"""Verdicts that more blocks may change."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One valid sample's value of the metric."""

    value: float
    """Finite, in the metric's unit."""
    position: int
    """Place in the campaign's run order."""
    block: int
    """The pass over all arms that it belongs to; what an arm is compared with has the same."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the observations."""

    baseline: str
    direction: Direction
    alpha: float = DEFAULT_ALPHA
    margin: float = DEFAULT_MARGIN
    rare: float = DEFAULT_RARE
    tables: int = 1
    """How many tables are judged together (``runoff.statistics.family``)."""
    seconds_per_block: float | None = None
    """For advice on blocks; None if it is not known."""
    taken: int | None = None
    """Blocks of a campaign that more can be added to (``runoff resume``), void ones too; None where advice is for a
    new campaign."""
    stopping: StoppingRule = "planned"
    """Where blocks were taken after earlier ones were looked at, intervals and p hold over all looks together."""
    stopping_of: Mapping[str, StoppingRule] = field(default_factory=dict)
    """Rules of single machines, or of single arms in no blocks, where they are not ``stopping``."""
    paired: bool = True
    """Observations belong together in blocks; else an arm's number of runs takes the place of that of blocks."""
    repeats_exactly: bool = False
    """The engine is deterministic and no metric of any arm changed between blocks: the samples are
    copies of one run, so their number proves nothing."""

    @property
    def is_sequential(self) -> bool:
        """Whether blocks were taken after earlier ones were looked at."""
        return self.stopping != "planned"

    def select(self, member: str) -> "Question":
        """Return what is asked of one machine, or of one arm in no blocks, by itself."""
        return replace(self, stopping=self.stopping_of.get(member, self.stopping), stopping_of={})


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval."""

    low: float
    high: float

    def is_inside(self, low: float, high: float) -> bool:
        """Return whether all of it lies in [low, high]."""
        return low <= self.low and self.high <= high


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Where the values of one arm lie, in the metric's unit."""

    minimum: float
    q10: float
    q25: float
    median: float
    q75: float
    q90: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Summary:
    """One arm's distribution, in the metric's unit."""

    arm: str
    n: int
    mean: float
    sd: float | None
    """Sample standard deviation (n - 1); None for a single value. Over machines, that of their means."""
    ci: Interval | None
    """95 % (1 - alpha) confidence interval of the mean from the arm's own SD and Student's t."""
    quantiles: Quantiles | None
    """None over machines: values of machines that differ in speed have no distribution in common."""
    median_ci: Interval | None = None
    """Interval of the median at 95 % or more, from order statistics; None with too few values for that."""
    outliers: tuple[float, ...] = ()
    """Values far beyond the quartiles, in run order; they are part of everything else here."""
    geometric_mean: float | None = None
    """None if a value is not positive."""
    geometric_ci: Interval | None = None
    """Interval of the geometric mean, as that of the mean of the logarithms."""


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
    """Games-Howell: the same question without assuming equal variances."""
    separated: bool


@dataclass(frozen=True, slots=True)
class Classic:
    """One metric as the historic reports analysed it: arms as the only factor, one SD for all of them."""

    anova: Anova | None
    """None with fewer than two arms or no replicated arm."""
    intervals: Mapping[str, Interval]
    """Interval of each arm's mean, from the pooled SD; empty without one."""
    pairs: tuple[Pair, ...]
    letters: Mapping[str, str]
    """Arms that share a letter are not separated; empty where nothing was tested."""


@dataclass(frozen=True, slots=True)
class Advice:
    """How many blocks decide on an arm, if its spread is as it was seen."""

    towards: Literal["same", "difference"]
    """What has a chance of 80 % then: ``=``, or ``+`` or ``-``."""
    as_seen: bool
    """Whether that chance is for a true difference as large as was seen; else it is for no difference."""
    blocks: int
    low: int
    high: int
    """90 % interval of ``blocks``, because the SD is an estimate."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How the change of one arm differs between machines."""

    machines: int
    """Machines on which both arms have a valid sample."""
    sd: float | None
    """Estimated SD of the true change between machines: of log ratios where there is a percent, else in the metric's
    unit. None if fewer than two machines have two blocks."""
    p: float | None
    """Result of the test that the change is the same on all machines; None if fewer than two have two blocks."""
    better: tuple[str, ...] = ()
    """Machines on which the arm is better for certain, with an error of alpha over all machines and arms."""
    worse: tuple[str, ...] = ()
    """Machines on which it is worse for certain."""

    @property
    def is_opposite(self) -> bool:
        """Whether the arm is better on some machines and worse on others."""
        return bool(self.better and self.worse)

    @property
    def has_sides(self) -> bool:
        """Whether the arm is certainly better or worse on some machine."""
        return bool(self.better or self.worse)


@dataclass(frozen=True, slots=True)
class Spread:
    """How much an arm varies from run to run, against the baseline."""

    ratio: float | None
    """Mean distance from the median, in times that of the baseline; of logarithms where all values are positive. None
    if the baseline does not vary."""
    p: float
    """Adjusted for all arms of the table and all headline tables."""
    is_larger: bool
    differs: bool
    """Whether it is certain to vary more or less, three times at least, and by more than the margin."""


Beyond = Literal["interval", "step", "mean", "nothing"]
"""What of a difference may be beyond the margin, the gravest first: its interval, a step of the values more than that,
or that of the ratio of the arithmetic means."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One arm against the baseline, within blocks.

    What only two samples of one block, or none, can tell is None.
    """

    arm: str
    n: int = 0
    """Blocks in which both arms have a valid sample."""
    difference: float | None = None
    """Mean of ``arm - baseline`` over these blocks, in the metric's unit."""
    interval: Interval | None = None
    """Interval of the difference; only where there is no percent."""
    log_mean: float | None = None
    """Mean of the natural logarithms of ``arm / baseline`` over these blocks; None if a value of either is not
    positive."""
    log_interval: Interval | None = None
    """The interval of ``log_mean``, simultaneous with those of the other arms, as ``interval`` is."""
    sd: float | None = None
    """SD of the block differences: of log ratios where there is a percent, else in the metric's unit. With fewer than
    five blocks and several arms at least that of all arms together."""
    error: float | None = None
    """Standard error that the interval comes from, in the unit of ``sd``."""
    df: float | None = None
    """Degrees of freedom of it."""
    p: float | None = None
    """Adjusted for all arms of the table."""
    separated: bool = False
    """The interval is on one side of no difference."""
    step: float | None = None
    """What the digits of the values leave open beyond the interval, in the unit of ``sd``; None where all are one
    number."""
    coarse: bool = False
    """Whether that is the margin or more, so that no number of blocks can call the arm the same."""
    beyond: Beyond = "interval"
    """What keeps it from being certain that the arms differ by less than the margin."""
    verdict: Verdict | None = None
    """None for the baseline itself and for metrics without a direction."""
    p_report: float | None = None
    """Adjusted for all headline tables of a report by Holm, of one machine among several for all machines; None
    outside of them."""
    unseen: float | None = None
    """What hits a smaller share of the runs may have gone unseen (with 10 % chance) in this many blocks."""
    effect: float | None = None
    """The difference in SDs of one run within a block (Hedges' g of block differences, times root 2)."""
    detectable: float | None = None
    """The smallest change that shows with 80 % chance at this n and SD: in percent where there is a percent."""
    correlation: float | None = None
    """Correlation of neighbours (lag 1): of the differences of blocks, where intervals are widened for it if it is
    certain, or of runs in no blocks within their arms, where they always are."""
    dependent: bool = False
    """Whether that correlation is certain."""
    runs_per_one: float = 1.0
    """How many blocks or runs say as much as one that does not resemble the one before, by that correlation."""
    is_sequential: bool = False
    """Whether somebody looked before there were as many blocks or runs as there are: intervals and p allow for it."""
    confounded: bool = False
    """Values drift, and the arm was always on the same side of the baseline in the run order: there is no interval."""
    advice: Advice | None = None
    """For unclear arms."""
    spread: Spread | None = None
    """How much it varies; None where that was not tested."""
    joint_interval: Interval | None = None
    """``log_interval`` as it holds for all machines together; only of one machine among several."""
    between: Heterogeneity | None = None
    """How the change differs between machines, in a campaign on several; their mean changes are then what is
    tested, and ``n`` counts their blocks."""

    @property
    def is_within(self) -> bool:
        """Whether the arms differ by less than the margin for certain."""
        return self.beyond == "nothing"

    @property
    def units(self) -> int:
        """How many independent differences there are: blocks, or machines."""
        return self.n if self.between is None else self.between.machines

    @property
    def percent(self) -> float | None:
        """``100 * (ratio - 1)``, ratio being the geometric mean of ``arm / baseline``; None without one."""
        return None if self.log_mean is None else to_percent(self.log_mean)

    @property
    def percent_interval(self) -> Interval | None:
        """The interval of ``percent``; None without one."""
        found = self.log_interval
        return None if found is None else Interval(to_percent(found.low), to_percent(found.high))


WarningKind = Literal[
    "few", "copies", "constant", "coarse", "drift", "baseline", "resolution", "rare", "dependent", "order", "outliers",
    "together", "machines", "one_block",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Warning:
    """A reason not to believe a number, in values. ``runoff.report.words.warnings`` says it in a sentence."""

    kind: WarningKind
    arms: tuple[str, ...] = ()
    """The arms it is about, in plan order. ``constant`` names none where all values of all arms are one number."""
    blocks: int | None = None
    """How many blocks would be enough, for ``few`` and ``rare``."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What a test found that is not in the comparisons: ``tau`` and ``p`` of ``drift``."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the samples of one metric support."""

    question: Question
    summaries: Mapping[str, Summary]
    """By arm, in plan order; arms without a valid sample are missing."""
    comparisons: Mapping[str, Comparison]
    """By arm, in plan order, all arms."""
    warnings: tuple[Warning, ...]
    machines: "Mapping[str, Analysis]" = field(default_factory=dict)
    """The analysis of each machine by itself, in a campaign on several."""

    @property
    def is_relative(self) -> bool:
        """Whether all differences are given in percent of the baseline."""
        known = [c for c in self.comparisons.values() if c.difference is not None]
        if not known:
            return all(summary.geometric_mean is not None for summary in self.summaries.values())
        return all(c.log_mean is not None for c in known)
