"""What a gate says, as values that its views show."""

from dataclasses import dataclass

from runoff.analysis.values import Report
from runoff.results import Metric
from runoff.statistics import Interval
from runoff.statistics.gate import Outcome, Risk

EXIT_CODES = {Outcome.FINE: 0, Outcome.REGRESSED: 1, Outcome.WORSE: 1, Outcome.UNCLEAR: 2}


@dataclass(frozen=True, slots=True)
class Line:
    """One arm on one headline metric."""

    place: str
    """The workload, and the load it ran beside unless there is only one."""
    metric: Metric
    arm: str
    n: int
    """Blocks in which both it and the baseline have a valid sample."""
    percent: float | None
    """Change against the baseline, with its own sign."""
    interval: Interval | None
    outcome: Outcome
    reason: str
    """Why nothing can be told; empty otherwise."""

    @property
    def name(self) -> str:
        """Where, and of what."""
        return f"{self.place}, {self.metric.title}"


@dataclass(frozen=True, slots=True)
class Gate:
    """All of them."""

    report: Report
    limit: float
    """The largest change for the worse that passes, as a fraction of the baseline."""
    lines: tuple[Line, ...]
    outcome: Outcome
    notes: tuple[str, ...]
    """About the campaign as a whole."""
    risk: Risk | None
    """How often this gate is wrong; None if not every comparison has some noise to reckon with."""

    @property
    def exit_code(self) -> int:
        """0 fine, 1 worse, certainly by more than the limit or perhaps, 2 cannot tell."""
        return EXIT_CODES[self.outcome]

    def among(self, outcome: Outcome) -> tuple[Line, ...]:
        """The lines with this outcome."""
        return tuple(line for line in self.lines if line.outcome is outcome)
