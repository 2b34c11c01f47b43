"""What a campaign produced: the one value that statistics and reports read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

EngineName = Literal["host", "lab"]
"""Where samples are taken."""
Clock = Literal["real", "virtual"]

Direction = Literal["lower", "higher", "none"]
"""Which way is better; ``none`` marks a number that explains but is not judged."""

Sort = Literal["mean", "name", "plan"]
"""In which order a report's tables have their arms."""

FIRST_LOOK = 10
"""Blocks before the first decision of a campaign that goes on until all is decided. Of differences as skewed as an
extreme value's (Gumbel) 5.7 % are found where there are none if one looks from 3 blocks on, and 4.7 % from 10 on."""

NO_LOAD = "none"
"""A load by this name is none: the workload alone, beside which the others are seen."""

PROBE_COST = "probe_time_pct"
"""The metric that tells what observing took, in percent of one CPU; only samples with probes have it."""


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
    """ISO 8601, UTC."""
    load1: float
    """Load average of the last minute."""
    temperature_c: float | None = None
    """Of the hottest sensor."""
    frequency_khz: float | None = None
    """Mean over the CPUs."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured run; ``reason`` says why when it is void."""

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
    """Of a void one: the end of the log that explains it, if there was one."""
    part: int = 0
    """0-based part of the campaign: what was taken without a stop."""

    @property
    def is_warmup(self) -> bool:
        """Kept, but not judged."""
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
    """Empty, or ``NO_LOAD``, where nothing ran during it."""

    @property
    def is_loaded(self) -> bool:
        """Whether anything ran during the workload."""
        return self.load not in ("", NO_LOAD)

    def label(self, among: int = 1) -> str:
        """Return the name for tables; of a campaign with several loads (``among``) also where nothing ran."""
        return self.workload + self.suffix(among)

    def suffix(self, among: int = 1) -> str:
        """Return what stands after the workload in ``label``."""
        return f" beside {self.load or NO_LOAD}" if among > 1 or self.is_loaded else ""


@dataclass(frozen=True, slots=True)
class StoredLog:
    """The log of a sample's disk requests, a file of the campaign."""

    path: Path
    sha256: str
    """Of the file when it was written."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a campaign takes no more blocks that went on until all was decided."""

    blocks: int
    """So many it has."""
    why: str
    """A part of a sentence."""
    decided: bool
    """Nothing is left unclear."""


@dataclass(frozen=True, slots=True)
class Results:
    """A campaign's plan in brief and all samples taken so far, in run order."""

    engine: EngineName
    clock: Clock
    seed: int
    blocks: int
    arms: tuple[str, ...]
    """Labels in plan order; the first is the baseline."""
    workloads: tuple[str, ...]
    loads: tuple[str, ...]
    metrics: Mapping[str, tuple[Metric, ...]]
    """By workload label, headline metrics first."""
    samples: tuple[Sample, ...]
    planned: int
    """How many samples the plan asks for."""
    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By workload label: all its values, defaults too."""
    twins: Mapping[str, int] = field(default_factory=dict)
    """By label, of arms that are an earlier one again under the virtual clock: how many of it there are before. Each
    has perturbations of its own."""
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    """Nested tables of strings and numbers: machine, kernel, per-arm scheduler objects, tools."""
    warnings: tuple[str, ...] = ()
    """Reasons not to believe it that the engine knows (emulated clock, steal time ...)."""
    changes: tuple[str, ...] = ()
    """What not all samples were taken with the same, as sentences with the blocks that had which: to be said first."""
    rerun: str = ""
    """The command that repeats the campaign."""
    plan_text: str = ""
    version: str = ""
    requests: Mapping[str, StoredLog] = field(default_factory=dict)
    """By sample id (``runoff.results.request_log`` reads them)."""
    repeats: Mapping[str, "Results"] = field(default_factory=dict)
    """The same once more, by what was changed for it: ``quantum=500``."""
    margin: float | None = None
    """A change by at most this share of the baseline counts as none; None: the usual."""
    rare: float | None = None
    """What hits this share of the runs must not go unseen before arms count as the same; None: the usual."""
    seconds_per_block: float | None = None
    """Median wall time of a whole block; samples side by side share the time. None: no block is whole, or unknown."""
    until: float | None = None
    """Blocks were taken until every headline comparison was decided with this margin; None: as many as were planned."""
    looks: tuple[int, ...] = ()
    """After how many blocks somebody looked and then had more taken."""
    ended: Ended | None = None
    """How a campaign with ``until`` has ended; None while it goes on."""

    @property
    def is_sequential(self) -> bool:
        """Whether blocks were taken after earlier ones were looked at."""
        return self.until is not None or bool(self.looks)

    @property
    def judged_samples(self) -> tuple[Sample, ...]:
        """The samples without those for warming up."""
        return tuple(sample for sample in self.samples if not sample.is_warmup)
