"""What a gate says, as values that its views show."""

from dataclasses import dataclass
from typing import Literal

from runoff.analysis.table import Lost, Table
from runoff.analysis.values import Report
from runoff.statistics import Comparison
from runoff.statistics.gate import Outcome
from runoff.statistics.gate_risk import Risk

EXIT_CODES = {Outcome.FINE: 0, Outcome.REGRESSED: 1, Outcome.WORSE: 1, Outcome.UNCLEAR: 2}

ReasonKind = Literal[
    "no valid sample", "no shared block", "not positive", "copies", "one number", "confounded", "no interval", "lost",
    "coarse", "limit inside",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a comparison cannot be held against the limit. ``runoff.gate.wording`` says it in a sentence."""

    kind: ReasonKind
    arm: str
    """The arm whose samples are the reason."""
    lost: Lost | None = None
    """The samples that say nothing, for ``lost``."""
    step: float = 0.0
    """Distance of neighbouring values as a logarithm, for ``coarse``."""


@dataclass(frozen=True, slots=True)
class Line:
    """One arm on one headline metric."""

    table: Table
    arm: str
    outcome: Outcome
    reason: Reason | None
    """Why nothing can be told; None otherwise."""
    machine: str = ""
    """The machine it is about; empty where it is about the campaign."""

    @property
    def comparison(self) -> Comparison:
        """The arm against the baseline."""
        analysis = self.table.analysis.machines[self.machine] if self.machine else self.table.analysis
        return analysis.comparisons[self.arm]

    @property
    def name(self) -> str:
        """Where, and of what."""
        where = f" on {self.machine}" if self.machine else ""
        return f"{self.table.place}{where}, {self.table.metric.title}"


@dataclass(frozen=True, slots=True)
class Gate:
    """All of them."""

    report: Report
    limit: float
    """The largest change for the worse that passes, as a fraction of the baseline."""
    lines: tuple[Line, ...]
    """One for each arm and headline metric, then one for each machine on which an arm is worse than allowed."""
    absent: tuple[tuple[Table, str], ...]
    """Headline tables with the arms that are not compared there, as imported files have numbers of one side alone."""
    outcome: Outcome
    unseen: float | None
    """What hits a smaller share of the runs may have gone unseen; None where nothing is fine."""
    risk: Risk | None
    """How often this gate is wrong; None if not every comparison has some noise to calculate with."""

    @property
    def exit_code(self) -> int:
        """0 fine, 1 worse, certainly by more than the limit or perhaps, 2 cannot tell."""
        return EXIT_CODES[self.outcome]

    def find_lines(self, outcome: Outcome) -> tuple[Line, ...]:
        """Return the lines with this outcome."""
        return tuple(line for line in self.lines if line.outcome is outcome)
