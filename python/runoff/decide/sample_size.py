"""From noise, of a pilot campaign or kept, to numbers of blocks."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runoff.analysis import build
from runoff.analysis.noise import Noise
from runoff.analysis.table import Table
from runoff.decide.noise import list_noise
from runoff.errors import UsageError
from runoff.results import Results
from runoff.statistics import DEFAULT_RARE
from runoff.statistics.planning import Blocks, blocks_for_same, blocks_to_detect

CHANCES = (0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Source:
    """The noise of one comparison."""

    place: str
    title: str
    """Title of the metric."""
    arm: str | None
    """Against the baseline; None for any arm, from kept noise."""
    unit: str
    relative: bool
    """The noise is of logarithms of ratios; else it is in the metric's unit."""
    sd: float | None
    """None where two arms share fewer than two blocks; 0, where differences do not vary, is not a noise either."""
    df: int
    comparisons: int
    """Arms against the baseline."""
    joint: int
    """Comparisons in all headline tables together."""
    seconds_per_block: float | None
    is_paired: bool = True
    """Whether the noise is of blocks; else each arm has that number of runs."""

    @property
    def name(self) -> str:
        """Where, of what, and who."""
        return f"{self.place}, {self.title}" + (f": {self.arm}" if self.arm is not None else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """Blocks for one question to one comparison; no numbers where the question makes no sense."""

    source: Source
    asked: str
    """``difference`` or ``same``."""
    size: float
    """Size of the difference, or the margin, as a fraction of the baseline."""
    chance: float
    blocks: Blocks

    @property
    def seconds(self) -> float | None:
        """What the blocks take, all arms and workloads; None if that is not known."""
        each, needed = self.source.seconds_per_block, self.blocks.needed
        return None if each is None or needed is None else each * needed


def collect_from_campaign(results: Results) -> tuple[Source, ...]:
    """Return the comparisons of a pilot's headline metrics. Raises UsageError without any that has some blocks."""
    if len(results.arms) < 2:
        raise UsageError(
            f"{results.arms[0]} is the only arm of this campaign, so no difference has a noise: take a pilot with two "
            "arms, or the noise of this machine",
            hint=("noise",),
        )
    if len(results.machines) > 1:
        raise UsageError(
            "blocks are planned for one machine, and this campaign is of several: use the campaign of one of them, in "
            "its directory machines/"
        )
    report = build.build_report(results)
    tables, results = [table for table in report.headline if table.is_judged], report.results
    joint = len(tables) * (len(results.arms) - 1)
    found = tuple(source for table in tables for source in _collect_from_table(table, results, joint))
    if all(source.sd is None for source in found):
        raise UsageError("no arm shares two blocks with the baseline yet, so the noise is unknown: take more blocks")
    return found


def _collect_from_table(table: Table, results: Results, joint: int) -> Iterator[Source]:
    for arm in results.arms[1:]:
        comparison = table.analysis.comparisons[arm]
        yield Source(
            table.place,
            table.metric.title,
            arm,
            table.metric.unit,
            comparison.percent is not None,
            comparison.sd,
            max(0, comparison.n - 1),
            len(results.arms) - 1,
            joint,
            results.seconds_per_block,
            results.is_paired,
        )


def find_noise(workloads: Sequence[str], engine: str | None, clock: str | None) -> tuple[Noise, ...]:
    """Return for each workload the newest stored noise. Raises UsageError if there is none."""
    every = [noise for _, noise in list_noise() if isinstance(noise, Noise)]
    return tuple(_find_newest(every, workload, engine, clock) for workload in workloads)


def _find_newest(every: Sequence[Noise], workload: str, engine: str | None, clock: str | None) -> Noise:
    fitting = [
        noise
        for noise in every
        if workload in (noise.place, noise.workload) and engine in (None, noise.engine) and clock in (None, noise.clock)
    ]
    if not fitting:
        kept = ", ".join(sorted({noise.place for noise in every}))
        known = f" (but of {kept})" if kept else ""
        where = "".join(f" --{option} {value}" for option, value in (("on", engine), ("clock", clock)) if value)
        raise UsageError(
            f"no noise of {workload!r}{' with' + where if where else ''} is kept{known}: measure it",
            hint=("noise", "--work", workload, *where.split()),
        )
    return max(fitting, key=lambda noise: noise.runs[-1].taken)


def collect_from_noise(noises: Sequence[Noise], arms: int) -> tuple[Source, ...]:
    """Return all judged metrics of kept noise, for a campaign of ``arms`` arms on all of these places together."""
    seconds = [noise.seconds_per_sample for noise in noises]
    known = [each for each in seconds if each is not None]
    per_block = arms * sum(known) if len(known) == len(seconds) else None
    pairs = [(noise, metric) for noise in noises for metric in noise.runs[-1].metrics if metric.headline]
    joint = len(pairs) * (arms - 1)
    found = []
    for noise, metric in pairs:
        pooled = noise.metric(metric.name)
        assert pooled is not None
        found.append(
            Source(
                noise.place,
                metric.title,
                None,
                metric.unit,
                metric.relative,
                pooled.sd,
                pooled.df,
                arms - 1,
                joint,
                per_block,
            )
        )
    return tuple(found)


def compute_answers(sources: Sequence[Source], detect: float, margin: float, rare: float | None) -> tuple[Answer, ...]:
    """Return for each comparison the blocks to detect ``detect``, and to call equal arms the same.

    Only of those that have percent. Raises UsageError for shares that are none.
    """
    for name, each in (("margin", margin), ("detect", detect), ("rare", rare)):
        if each is not None and not 0 < each < 1:
            raise UsageError(f"--{name} {100 * each:g}%: give a share above 0 % and below 100 %, e.g. 1%")
    seen = DEFAULT_RARE if rare is None else rare
    return tuple(
        answer
        for source in sources
        if source.sd and source.relative
        for answer in _compute_answers(source, source.sd, detect, margin, seen)
    )


def _compute_answers(source: Source, sd: float, detect: float, margin: float, rare: float) -> Iterator[Answer]:
    for chance in CHANCES:
        blocks = blocks_to_detect(math.log1p(detect), sd, source.df, chance, joint=source.joint)
        yield Answer(source, "difference", detect, chance, blocks)
    for chance in CHANCES:
        blocks = blocks_for_same(math.log1p(margin), sd, source.df, chance, comparisons=source.comparisons, rare=rare)
        yield Answer(source, "same", margin, chance, blocks)


def find_hardest(found: Sequence[Answer], asked: str, chance: float) -> Answer | None:
    """Return the comparison that needs the most blocks; None without any."""
    these = [each for each in found if (each.asked, each.chance) == (asked, chance)]
    return max(these, key=lambda each: math.inf if each.blocks.needed is None else each.blocks.needed, default=None)
