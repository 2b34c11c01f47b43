"""The results of a campaign: the one value that statistics and reports read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from runoff.engine_kinds import Clock

IMPORTED = "imported"
"""In place of an engine's name: the samples were measured elsewhere."""

Direction = Literal["lower", "higher", "none"]
"""Which way is better; ``none`` marks a number that explains but is not judged."""

Sort = Literal["mean", "name", "plan"]
"""The order of the arms in a report's tables."""

FIRST_LOOK = 10
"""Blocks before the first decision of a campaign that goes on until all is decided. With differences as skewed as an
extreme value's (Gumbel), 5.7 % of comparisons without a difference show one if looks begin at 3 blocks, and 4.7 % if
they begin at 10."""

NO_LOAD = "none"
"""The name that means no load: the workload alone, to compare the loads with."""

PROBE_COST = "probe_time_pct"
"""The metric for the cost of probes, in percent of one CPU; only samples with probes have it."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A named number of a sample."""

    name: str
    unit: str
    direction: Direction
    title: str
    headline: bool = False
    """Headline metrics get a verdict in the terminal table; the others only in HTML and JSON."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The machine that runoff runs on, when a sample began; in the lab that is the host."""

    started: str
    """Start of the sample, ISO 8601, UTC."""
    load1: float
    """Load average of the last minute."""
    temperature_c: float | None = None
    """Temperature of the hottest sensor."""
    frequency_khz: float | None = None
    """Mean frequency of the CPUs."""


@dataclass(frozen=True, slots=True)
class CpuLimits:
    """Limits of CPU time of control groups that work was in while the workload ran."""

    found: tuple[str, ...] = ()
    """Such as ``/g: cpu.max 20000 100000``; those that the plan asks for are not among them."""
    unwatched: str = ""
    """Why there may be more; empty if all groups were watched, or the sample was taken before they were."""
    applied: bool | None = None
    """Whether the scheduler in charge applies limits; None where that is not known."""
    asked: tuple[str, ...] = ()
    """Limits that the plan asks for, such as ``quota=50%`` and ``weight=20 of the load``."""


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads of the work that were looked at while a sched_ext scheduler was in charge."""

    seen: int = 0
    realtime: int = 0
    """How many of them were in a class above sched_ext's."""

    @property
    def share(self) -> float:
        """The share of real-time ones, 0 to 1."""
        return self.realtime / self.seen if self.seen else 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured run; ``reason`` says why it is void, if it is."""

    id: str
    block: int
    """0-based pass over all arms; those before the first are for warming up."""
    position: int
    """0-based place in the run order of the whole campaign."""
    arm: str
    workload: str
    load: str
    valid: bool
    reason: str | None
    metrics: Mapping[str, float]
    conditions: Conditions | None = None
    detail: str = ""
    """For a void sample, the end of the log that explains it, if there was one."""
    part: int = 0
    """0-based part of the campaign, which was taken without a stop."""
    machine: str = ""
    """One of ``Results.machines``; empty in a campaign of one machine."""
    worker: str = ""
    """Name of the worker of a cluster that took it; empty if there was no cluster."""
    cpu_limits: CpuLimits = CpuLimits()
    threads: Threads = Threads()

    @property
    def is_warmup(self) -> bool:
        """Whether it is stored but not judged."""
        return self.block < 0

    @property
    def work(self) -> "LoadedWork":
        """The workload and the load of the sample."""
        return LoadedWork(self.workload, self.load)


@dataclass(frozen=True, slots=True)
class LoadedWork:
    """A workload and the load that ran during it."""

    workload: str
    load: str
    """Empty or ``NO_LOAD`` if nothing ran during it."""

    @property
    def is_loaded(self) -> bool:
        """Whether anything ran during the workload."""
        return self.load not in ("", NO_LOAD)

    def label(self, among: int = 1) -> str:
        """Return the name for tables; in a campaign with several loads (``among``) it says so if nothing else ran."""
        return self.workload + self.suffix(among)

    def suffix(self, among: int = 1) -> str:
        """Return the part of ``label`` after the workload."""
        if self.is_loaded:
            return f" beside {self.load}"
        return " alone" if among > 1 else ""


@dataclass(frozen=True, slots=True)
class StoredLog:
    """The log of a sample's disk requests, a file of the campaign."""

    path: Path
    sha256: str
    """Digest of the file when it was written."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a campaign with ``until`` has stopped."""

    blocks: int
    """The number of its blocks."""
    why: str
    """The reason, as a part of a sentence."""
    decided: bool
    """Whether every comparison is decided."""


StoppingRule = Literal["planned", "until", "extended"]
"""How the number of blocks came about: chosen beforehand; by looks at all that was taken, until all was decided; or
chosen beforehand, and raised after it had been seen."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """How it was decided that there are samples enough; an analysis depends on it."""

    until: float | None = None
    """The margin with which every headline comparison had to be decided; None if the number of blocks was planned."""
    looks: tuple[int, ...] = ()
    """Numbers of blocks after which the user looked and then took more."""
    ended: Ended | None = None
    """How it has ended with ``until``; None while it goes on."""

    @property
    def rule(self) -> StoppingRule:
        """The stopping rule, which intervals depend on."""
        if self.until is not None:
            return "until"
        return "extended" if self.looks else "planned"


@dataclass(frozen=True, slots=True)
class Descriptions:
    """Sentences about what a campaign compares and runs, for readers who do not know the names."""

    arms: Mapping[str, str] = field(default_factory=dict)
    """By label."""
    workloads: Mapping[str, str] = field(default_factory=dict)
    """By label."""
    loads: Mapping[str, str] = field(default_factory=dict)
    """By label."""
    metrics: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By label of the workload and name of the metric."""


@dataclass(frozen=True, slots=True)
class Results:
    """A campaign's plan in brief and all samples taken so far, in run order."""

    engine: str
    """A name of ``runoff.engine_kinds.ENGINES``, or `IMPORTED`."""
    clock: Clock
    seed: int
    blocks: int
    arms: tuple[str, ...]
    """Labels in plan order; the first is the baseline."""
    workloads: tuple[str, ...]
    loads: tuple[str, ...]
    metrics: Mapping[str, tuple[Metric, ...]]
    """Metrics by workload label, headline metrics first."""
    samples: tuple[Sample, ...]
    planned: int
    """Number of samples in the plan."""
    is_paired: bool = True
    """Whether samples of one block belong together; else a block is only the number of an arm's run."""
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """All values of each workload's parameters, defaults too, by its label."""
    twins: Mapping[str, int] = field(default_factory=dict)
    """For each arm that repeats an earlier one under the virtual clock, by label, how many equal ones come before it.
    Each has perturbations of its own."""
    descriptions: Descriptions = Descriptions()
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    """Nested tables of strings and numbers: machine, kernel, per-arm scheduler objects, tools."""
    warnings: tuple[str, ...] = ()
    """The engine's reasons to doubt the results (emulated clock, steal time ...)."""
    account: tuple[str, ...] = ()
    """Sentences about imported numbers: what was taken for what, and what became of every number."""
    changes: tuple[str, ...] = ()
    """What changed between samples, as sentences that name the blocks; to be shown first."""
    rerun: str = ""
    """The command that repeats the campaign; of several machines one line for each, with its name as a comment."""
    plan_text: str = ""
    version: str = ""
    machines: tuple[str, ...] = ()
    """Names of the machines, if samples are from several; a block belongs to one of them."""
    requests: Mapping[str, StoredLog] = field(default_factory=dict)
    """Logs by sample id (``runoff.results.request_log`` reads them)."""
    repeats: Mapping[str, "Results"] = field(default_factory=dict)
    """Repetitions of the campaign, by the setting that was changed: ``quantum=500``."""
    margin: float | None = None
    """A change by at most this share of the baseline counts as none; None means the default."""
    rare: float | None = None
    """An event that hits this share of the runs must have been seen before arms count as the same; None means the
    default."""
    seconds_per_block: float | None = None
    """Median wall time of a whole block; parallel samples share the time. None if no block is whole, or it is not
    known."""
    stopping: Stopping = Stopping()
    members: Mapping[str, Stopping] = field(default_factory=dict)
    """How each campaign was stopped that these are made of: of a machine by its name, of campaigns side by side by
    their arm. What is not in it was stopped as all of it."""

    def find_stopping(self, member: str) -> Stopping:
        """Return how a machine was stopped, or an arm that is a campaign."""
        return self.members.get(member, self.stopping)

    @property
    def judged_samples(self) -> tuple[Sample, ...]:
        """The samples without those for warming up."""
        return tuple(sample for sample in self.samples if not sample.is_warmup)
