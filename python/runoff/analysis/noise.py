"""The noise of a machine: differences between two measurements of the same arm in each block."""

import math
import re
import tomllib
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, Strict, model_validator

from runoff.engine_kinds import Clock, EngineName
from runoff.errors import UsageError
from runoff.results import IMPORTED, LoadedWork, Metric, Results
from runoff.validation import Checked

KIBIBYTES_PER_GIB = 1 << 20


class MetricNoise(Checked):
    """Differences of two equal arms, one a block."""

    name: str
    title: str
    unit: str
    headline: bool
    """Whether the metric is judged."""
    relative: bool
    """Whether differences are logarithms of ratios; else they are in the metric's unit."""
    blocks: int = Field(ge=2)
    sd: float = Field(ge=0)


class Run(Checked):
    """One measurement of noise."""

    taken: str
    """ISO 8601, UTC: when its first sample began."""
    seconds_per_sample: float | None = Field(default=None, ge=0)
    metrics: Annotated[tuple[MetricNoise, ...], Strict(False)] = Field(min_length=1)


class Noise(Checked):
    """All that is kept of one place."""

    schema_: Literal["runoff.noise/1", "runoff.noise/2"] = Field(default="runoff.noise/2", alias="schema")
    machine: dict[str, str]
    engine: EngineName
    clock: Clock
    arm: str
    workload: str
    load: str
    runs: Annotated[tuple[Run, ...], Strict(False)] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_not_of_copies(self) -> Self:
        """Refuse noise of the first schema under the virtual clock: its two arms were a sample and a copy."""
        if self.schema_ == "runoff.noise/1" and self.clock == "virtual":
            raise ValueError("it was measured between samples and their copies, so it is of nothing")
        return self

    @property
    def place(self) -> str:
        """The workload, and the load beside it."""
        return LoadedWork(self.workload, self.load).label()

    @property
    def seconds_per_sample(self) -> float | None:
        """Median seconds of a sample in the newest run that knows them."""
        known = [run.seconds_per_sample for run in self.runs if run.seconds_per_sample is not None]
        return known[-1] if known else None

    def metric(self, name: str) -> "Pooled | None":
        """Return all runs of one metric together; None if they have it not, or not in one unit."""
        found = [each for run in self.runs for each in run.metrics if each.name == name]
        newest = found[-1] if found else None
        alike = [each for each in found if newest and (each.relative, each.unit) == (newest.relative, newest.unit)]
        if newest is None:
            return None
        df = sum(each.blocks - 1 for each in alike)
        sd = math.sqrt(sum((each.blocks - 1) * each.sd**2 for each in alike) / df)
        return Pooled(newest, sd, df, sum(each.blocks for each in alike))


@dataclass(frozen=True, slots=True)
class Pooled:
    """One metric's noise from all runs."""

    metric: MetricNoise
    sd: float
    df: int
    """Degrees of freedom of the SD."""
    blocks: int


def identify_machine(results: Results) -> dict[str, str]:
    """Return what makes a machine another one, as far as noise goes; empty where nothing is known."""
    machine = results.fingerprint.get("machine", {})
    memory = re.match(r"([0-9]+) kB", str(machine.get("memory", "")))
    facts = {key: str(machine[key]) for key in ("cpu_model", "cpus_online", "smt", "hypervisor") if machine.get(key)}
    if memory:
        facts["memory_gib"] = f"{round(int(memory[1]) / KIBIBYTES_PER_GIB)}"
    return facts


def measure_noise(results: Results) -> tuple[Noise, ...]:
    """Return the noise that a campaign of one arm against itself has shown, of each workload beside each load.

    Raises UsageError if it was of different arms, or if a place has fewer than two blocks with a valid sample of both.
    """
    engine = results.engine
    if engine == IMPORTED:
        raise UsageError("noise is of a machine, and this campaign was imported: measure this machine", hint=("noise",))
    plan = tomllib.loads(results.plan_text)
    arms = [plan.get("names", {}).get(arm, arm) for arm in plan["arms"]]
    if len(arms) != 2 or arms[0] != arms[1]:
        raise UsageError(
            f"noise is what one arm shows against itself, and this campaign is of {', '.join(arms)}: measure it",
            hint=("noise",),
        )
    if results.clock == "virtual" and not results.twins:
        raise UsageError(
            "this campaign was begun by a runoff that gave both arms of a block one perturbation, so that it holds "
            "samples and their copies: measure again",
            hint=("noise",),
        )
    return tuple(
        _measure_place(results, engine, arms[0], workload, load)
        for workload in results.workloads
        for load in results.loads
    )


def _measure_place(results: Results, engine: str, arm: str, workload: str, load: str) -> Noise:
    samples = [s for s in results.judged_samples if (s.workload, s.load) == (workload, load)]
    every = (_measure_metric(results, metric, workload, load) for metric in results.metrics[workload])
    metrics = [found for found in every if found is not None]
    if not metrics:
        raise UsageError(
            f"{workload}: fewer than two blocks have a valid sample of both arms, so its noise is unknown: "
            "remove the cause of the voids, or take more --blocks"
        )
    size = len(results.arms) * len(results.workloads) * len(results.loads)
    each = None if results.seconds_per_block is None else results.seconds_per_block / size
    first = min((s.conditions.started for s in samples if s.conditions), default="")
    return Noise(
        machine=identify_machine(results),
        engine=engine,
        clock=results.clock,
        arm=arm,
        workload=workload,
        load=load,
        runs=(Run(taken=first, seconds_per_sample=each, metrics=tuple(metrics)),),
    )


def _measure_metric(results: Results, metric: Metric, workload: str, load: str) -> MetricNoise | None:
    from runoff.statistics import Observation
    from runoff.statistics.blocks import differences

    arms: dict[str, list[Observation]] = {arm: [] for arm in results.arms}
    for sample in results.judged_samples:
        value = sample.metrics.get(metric.name)
        if (sample.workload, sample.load) == (workload, load) and value is not None and math.isfinite(value):
            arms[sample.arm].append(Observation(value, sample.position, sample.block))
    first, second = (arms[arm] for arm in results.arms[:2])
    found = differences(first, second) if first and second else None
    if found is None or found.sd is None:
        return None
    return MetricNoise(
        name=metric.name,
        title=metric.title,
        unit=metric.unit,
        headline=metric.headline and metric.direction != "none",
        relative=found.logs,
        blocks=found.n,
        sd=found.sd,
    )
