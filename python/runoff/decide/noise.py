"""What one machine's noise is: the same arm against itself, kept for later reports and plans.

One JSON file for each machine, engine, clock, workload and load, in the user's data directory (``XDG_DATA_HOME``). The
machine is what the agent saw of it: of the host under --on host, of the guest in the lab.
"""

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, Self

import platformdirs
from pydantic import Field, Strict, ValidationError, model_validator

from runoff.errors import MissingError, UsageError
from runoff.results import Clock, EngineName, Metric, Results
from runoff.validation import Checked, mistake

USUAL_ARM = "default"
MOST_RUNS = 20
"""Of one place; older ones are forgotten, as machines change."""
KIBIBYTES_PER_GIB = 1 << 20

DOES_NOT_VARY = "no difference varies, so the noise is less than the digits show"


class MetricNoise(Checked):
    """Differences of two equal arms, one a block."""

    name: str
    title: str
    unit: str
    headline: bool
    """It is judged."""
    relative: bool
    """They are logarithms of ratios; else they are in the metric's unit."""
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
        """Under the virtual clock the two arms of the first schema were a sample and its copy in each block."""
        if self.schema_ == "runoff.noise/1" and self.clock == "virtual":
            raise ValueError("it was measured between samples and their copies, so it is of nothing")
        return self

    @property
    def place(self) -> str:
        """The workload, and the load beside it."""
        return f"{self.workload} beside {self.load}" if self.load not in ("", "none") else self.workload

    @property
    def seconds_per_sample(self) -> float | None:
        """In the newest run that knows it."""
        known = [run.seconds_per_sample for run in self.runs if run.seconds_per_sample is not None]
        return known[-1] if known else None

    def metric(self, name: str) -> "Pooled | None":
        """All runs of one metric together; None if they have it not, or not in one unit."""
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


def folder() -> Path:
    """Where noise is kept."""
    return platformdirs.user_data_path("runoff") / "noise"


def machine_of(results: Results) -> dict[str, str]:
    """What makes a machine another one, as far as noise goes; empty where nothing is known."""
    told = results.fingerprint.get("machine", {})
    memory = re.match(r"([0-9]+) kB", str(told.get("memory", "")))
    facts = {key: str(told[key]) for key in ("cpu_model", "cpus_online", "smt", "hypervisor") if told.get(key)}
    if memory:
        facts["memory_gib"] = f"{round(int(memory[1]) / KIBIBYTES_PER_GIB)}"
    return facts


def file_of(machine: dict[str, str], engine: str, clock: str, arm: str, workload: str, load: str) -> Path:
    """The place of one noise: readable first, and of the whole key a digest."""
    perturbed = ["runoff.noise/2"] if clock == "virtual" else []
    key = json.dumps([machine, engine, clock, arm, workload, load, *perturbed], sort_keys=True)
    readable = re.sub(r"[^A-Za-z0-9]+", "-", workload)[:40].strip("-") or "work"
    return folder() / f"{engine}-{clock}-{readable}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"


def measured(results: Results) -> tuple[Noise, ...]:
    """The noise that a campaign of one arm against itself has shown, of each workload beside each load.

    Raises UsageError if it was of different arms, or if a place has fewer than two blocks with a valid sample of both.
    """
    plan = tomllib.loads(results.plan_text)
    arms = [plan.get("names", {}).get(arm, arm) for arm in plan["arms"]]
    if len(arms) != 2 or arms[0] != arms[1]:
        raise UsageError(
            f"noise is what one arm shows against itself, and this campaign is of {', '.join(arms)}: "
            "take it by runoff noise"
        )
    if results.clock == "virtual" and not results.twins:
        raise UsageError(
            "this campaign was begun by a runoff that gave both arms of a block one perturbation, so that it holds "
            "samples and their copies: measure again by runoff noise"
        )
    return tuple(
        _measured(results, arms[0], workload, load) for workload in results.workloads for load in results.loads
    )


def _measured(results: Results, arm: str, workload: str, load: str) -> Noise:
    samples = [s for s in results.judged if (s.workload, s.load) == (workload, load)]
    metrics = [found for metric in results.metrics[workload] if (found := _metric(results, metric, workload, load))]
    if not metrics:
        raise UsageError(
            f"{workload}: fewer than two blocks have a valid sample of both arms, so its noise is unknown: "
            "remove the cause of the voids, or take more --blocks"
        )
    size = len(results.arms) * len(results.workloads) * len(results.loads)
    each = None if results.seconds_per_block is None else results.seconds_per_block / size
    first = min((s.conditions.started for s in samples if s.conditions), default="")
    return Noise(
        machine=machine_of(results),
        engine=results.engine,
        clock=results.clock,
        arm=arm,
        workload=workload,
        load=load,
        runs=(Run(taken=first, seconds_per_sample=each, metrics=tuple(metrics)),),
    )


def _metric(results: Results, metric: Metric, workload: str, load: str) -> MetricNoise | None:
    from runoff.statistics import Observation
    from runoff.statistics.blocks import differences

    arms: dict[str, list[Observation]] = {arm: [] for arm in results.arms}
    for sample in results.judged:
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


def keep(noise: Noise) -> Path:
    """Add to what is kept of the same place. Raises UsageError for a damaged file, MissingError if it cannot write."""
    place = file_of(noise.machine, noise.engine, noise.clock, noise.arm, noise.workload, noise.load)
    earlier = read(place).runs if place.exists() else ()
    taken = {run.taken for run in noise.runs}
    runs = (*(run for run in earlier if run.taken not in taken), *noise.runs)[-MOST_RUNS:]
    text = noise.model_copy(update={"runs": runs}).model_dump_json(by_alias=True, indent=1)
    unfinished = place.with_suffix(".new")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text + "\n", encoding="utf-8")
        unfinished.replace(place)
    except OSError as error:
        raise MissingError(
            f"cannot keep the noise in {place}: {error.strerror}; set XDG_DATA_HOME to a place"
        ) from None
    return place


def read(place: Path) -> Noise:
    """One file. Raises UsageError in a sentence."""
    try:
        return Noise.model_validate_json(place.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read the noise in {place}: {error.strerror}") from None
    except ValidationError as error:
        raise UsageError(
            f"{place} holds no noise ({mistake(error)}): remove it, and measure again by runoff noise"
        ) from None


def kept() -> Iterator[tuple[Path, Noise | UsageError]]:
    """All files by name, each as noise or as what is wrong with it."""
    for place in sorted(folder().glob("*.json")):
        try:
            yield place, read(place)
        except UsageError as error:
            yield place, error


def of(results: Results, arm: str = USUAL_ARM) -> Iterator[Noise | UsageError]:
    """What is kept of the places of a campaign, on a machine like its own."""
    machine = machine_of(results)
    for workload in results.workloads:
        for load in results.loads:
            place = file_of(machine, results.engine, results.clock, arm, workload, load)
            if _is_there(place):
                try:
                    yield read(place)
                except UsageError as error:
                    yield error


def _is_there(place: Path) -> bool:
    """Not for whoever may not look."""
    try:
        return place.exists()
    except OSError:
        return False


def told(results: Results) -> Results:
    """The same with what a report says of the noise: a line for each headline metric, or why there is none."""
    return replace(results, noise=tuple(line for found in of(results) for line in _lines(results, found)))


def _lines(results: Results, found: Noise | UsageError) -> Iterator[str]:
    if isinstance(found, UsageError):
        yield f"the noise of this machine is not told: {found}"
        return
    for metric in results.metrics[found.workload]:
        pooled = found.metric(metric.name)
        if metric.headline and metric.direction != "none" and pooled is not None:
            yield f"noise of this machine on {found.place}, {metric.title}: {sentence(pooled, results.blocks)}"


def sentence(pooled: Pooled, blocks: int) -> str:
    """How much equal arms differ, and what a number of blocks can show beside it, of two arms."""
    from runoff.statistics import DEFAULT_ALPHA
    from runoff.statistics.power import detectable

    if pooled.sd == 0:
        return f"{DOES_NOT_VARY}, over {pooled.blocks} blocks"
    size = amount(pooled.sd, pooled.metric)
    told = f"equal arms differ by {size} (SD) from block to block, over {pooled.blocks} blocks"
    if blocks < 2:
        return told
    shown = amount(detectable(blocks, 1, DEFAULT_ALPHA) * pooled.sd, pooled.metric)
    return f"{told}; {blocks} blocks show {shown} with 80 % chance"


def size_text(difference: float, unit: str, *, relative: bool) -> str:
    """A difference as a reader has it: of logarithms of ratios in percent, else in the metric's unit."""
    return f"{100 * math.expm1(difference):.2g} %" if relative else f"{difference:.3g} {unit}".rstrip()


def amount(difference: float, metric: MetricNoise) -> str:
    """The same of a metric whose noise is kept."""
    return size_text(difference, metric.unit, relative=metric.relative)
