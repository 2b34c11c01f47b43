"""The report as values: what the views show. Nothing is computed here but what follows from one value alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from runoff.analysis.noise import Noise
from runoff.analysis.sweep import Sweep
from runoff.analysis.table import Table
from runoff.analysis.warnings import CampaignWarning
from runoff.errors import UsageError
from runoff.results import IMPORTED, Results, Sample
from runoff.statistics import Analysis, Question, Verdict


@dataclass(frozen=True, slots=True)
class Overall:
    """The first judged headline metric of each workload and load, as one ratio to the baseline."""

    tables: tuple[Table, ...]
    analysis: Analysis | None
    """None if these cannot be put together."""
    refused: str
    """Why not."""

    @property
    def over(self) -> str:
        """What was put together."""
        titles = dict.fromkeys(table.metric.title for table in self.tables)
        loads = " and loads" if len({table.load for table in self.tables}) > 1 else ""
        return f"{', '.join(titles)} over {len(self.tables)} workloads{loads}"


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """One fact; ``values`` holds one entry for all arms, or one per arm in plan order."""

    key: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the arms disagree."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class Report:
    """A campaign and what it supports."""

    results: Results
    tables: tuple[Table, ...]
    """By workload, load and metric in plan order, headline metrics first."""
    voids: tuple[Sample, ...]
    warnings: tuple[CampaignWarning, ...]
    """About the campaign as a whole; those about one metric are in its analysis."""
    environment: tuple[EnvironmentRow, ...]
    """Rows that differ between arms first."""
    overall: Overall | None = None
    """The result over all workloads and loads together, if there are several."""
    repeats: "Mapping[str, Report]" = field(default_factory=dict)
    """Reports of the same plan once more, by what was changed for it: ``quantum=500``."""
    sweep: Sweep | None = None
    """What the arms vary, if they are values of one or more parameters and nothing else."""
    noise: tuple[Noise | UsageError, ...] = ()
    """What is known of the noise of the machine that reads this, or why a file of it cannot be read."""

    @property
    def baseline(self) -> str:
        """The arm all others are compared with."""
        return self.results.arms[0]

    @property
    def engine(self) -> str:
        """Engine and clock, as every table is tagged."""
        if self.results.engine == IMPORTED:
            return IMPORTED
        return f"{self.results.engine}, {self.results.clock} clock"

    @property
    def question(self) -> Question:
        """What was asked of all headline tables, but for the direction."""
        asked = [table.analysis.question for table in self.headline if table.is_judged]
        asked += [table.analysis.question for table in self.tables]
        return asked[0] if asked else Question(self.baseline, "none")

    @property
    def is_conclusive(self) -> bool:
        """Whether every arm has a valid sample in all headline tables, and what was to be decided is.

        Of imported numbers only what can be compared counts.
        """
        headline = self.headline
        empty = any(
            arm not in {point.arm for point in table.points}
            for table in headline
            for arm, comparison in table.analysis.comparisons.items()
            if comparison.verdict is not Verdict.ABSENT
        )
        ended = self.results.stopping.ended
        return bool(headline) and not empty and (ended is None or ended.decided)

    def select_machine(self, machine: str) -> "Report":
        """Return the report of one machine of a campaign on several: what it took, and what its samples support."""
        samples = tuple(sample for sample in self.results.samples if sample.machine == machine)
        shared = {key: table for key, table in self.results.fingerprint.items() if key != "machines"}
        known = dict(self.results.fingerprint.get("machines", {}).get(machine, {}))
        kernel = {"release": known.pop("release")} if "release" in known else {}
        results = replace(
            self.results,
            samples=samples,
            planned=len(samples),
            blocks=len({sample.block for sample in samples if not sample.is_warmup}),
            machines=(),
            stopping=self.results.find_stopping(machine),
            members={},
            fingerprint={**shared, "machine": known, "kernel": kernel},
        )
        return replace(
            self,
            results=results,
            tables=tuple(table.select_machine(machine) for table in self.tables),
            voids=tuple(sample for sample in self.voids if sample.machine == machine),
            overall=None,
        )

    def split_machines(self) -> "Mapping[str, Report]":
        """Return the report of each machine by its name; of a campaign on one, the report as it is by no name."""
        machines = self.results.machines if len(self.results.machines) > 1 else ()
        return {name: self.select_machine(name) for name in machines} or {"": self}

    @property
    def headline(self) -> tuple[Table, ...]:
        """Tables of headline metrics."""
        return tuple(table for table in self.tables if table.metric.headline)

    @property
    def others_judged(self) -> tuple[int, float]:
        """How many judged tables are not headline tables, and how many of them may show a false ``+`` or ``-``."""
        alphas = [t.analysis.question.alpha for t in self.tables if t.is_judged and not t.metric.headline]
        return len(alphas), sum(alphas)
