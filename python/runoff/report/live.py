"""The line under a running campaign: where it is, how long it will take, what the means are so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.text import Text

from runoff.report.layout import cut_middle

LEAST_FOR_ETA = 2
"""One sample's duration says too little about the next arm's."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One arm's running mean; shown in grey, because looking early must not look like a result."""

    n: int
    mean: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a campaign stands while the sample of ``arm`` is being taken."""

    done: int
    planned: int
    block: int
    """0-based."""
    blocks: int
    arm: str
    workload: str
    elapsed_s: float
    """Since the first sample of this sitting began."""
    done_before: int = 0
    """Samples taken in earlier sittings, which say nothing about this one's speed."""
    void: int = 0
    step: str = ""
    """What the agent reports: prepare, attach, run."""
    metric: str = ""
    unit: str = ""
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    """Of the workload's first headline metric, by arm."""

    @property
    def eta_s(self) -> float | None:
        """Seconds left at this sitting's pace; None while that is unknown."""
        fresh = self.done - self.done_before
        if fresh < LEAST_FOR_ETA:
            return None
        return self.elapsed_s / fresh * (self.planned - self.done)


def line(progress: Progress) -> str:
    """One plain line, for logs and pipes."""
    void = f", {progress.void} void" if progress.void else ""
    eta = f", {duration(progress.eta_s)} left" if progress.eta_s is not None else ""
    step = f" ({progress.step})" if progress.step else ""
    return (
        f"block {progress.block + 1}/{progress.blocks}  {progress.done}/{progress.planned} samples{void}{eta}  "
        f"{progress.arm} on {progress.workload}{step}"
    )


def render(progress: Progress, width: int) -> Text:
    """The line and, in grey below it, the estimates so far; no line longer than ``width``."""
    text = Text(cut_middle(line(progress), width), no_wrap=True, overflow="crop")
    if progress.estimates:
        means = "  ".join(f"{arm} {e.mean:.4g} (n={e.n})" for arm, e in progress.estimates.items())
        name = f"{progress.metric} so far, {progress.unit}".rstrip(", ")
        text.append("\n" + cut_middle(f"{name}: {means}", width), style="bright_black")
    return text


def duration(seconds: float) -> str:
    """Hours and minutes, minutes and seconds, or seconds."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 60} min {whole % 60:02} s" if whole >= 60 else f"{whole} s"
