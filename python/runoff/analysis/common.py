"""What several campaigns have in common: a control, and what they were taken with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from runoff.analysis.cpu_limits import join_limits
from runoff.analysis.environment import PER_ARM, flatten
from runoff.errors import UsageError
from runoff.results import CpuLimits, Metric, Results, Sample

NO_CONTROL = "none"
"""In place of a control: values are compared as they are."""
_OF_EACH = ("arms", "files", "objects")
"""Tables of the fingerprint about what is compared."""
EXPECTED = ("taken", "snapshots.")
"""Begins of facts that differ between any two campaigns."""


def refuse_other_engines(campaigns: Mapping[str, Results]) -> None:
    """Raise UsageError unless all samples are of one engine, and each campaign of one machine."""
    kinds = {name: f"{results.engine}, {results.clock} clock" for name, results in campaigns.items()}
    if len(set(kinds.values())) > 1:
        text = "; ".join(f"{name} is of the {kind}" for name, kind in kinds.items())
        raise UsageError(f"samples of different engines are never in one table: {text}")
    several = [name for name, results in campaigns.items() if results.machines]
    if several:
        raise UsageError(f"{several[0]} is of several machines: give the campaigns of one machine, in its machines/")


def find_control(campaigns: Mapping[str, Results], asked: str | None) -> str | None:
    """Return the arm ``asked`` for; without that the first arm, if all have it beside another. Raises UsageError."""
    if asked == NO_CONTROL:
        return None
    common = [arm for arm in get_first(campaigns).arms if all(arm in each.arms for each in campaigns.values())]
    if asked is not None:
        if asked not in common:
            known = ", ".join(common) or "none"
            raise UsageError(f"--control {asked}: not an arm of all of them; arms that all have: {known}")
        return asked
    return find_possible_control(campaigns) if all(each.is_paired for each in campaigns.values()) else None


def find_possible_control(campaigns: Mapping[str, Results]) -> str | None:
    """Return the first arm, if all campaigns have it beside another."""
    first = get_first(campaigns).arms[0]
    return first if all(len(each.arms) > 1 and first in each.arms for each in campaigns.values()) else None


def get_first(campaigns: Mapping[str, Results]) -> Results:
    """Return the campaign that the others are seen from."""
    return next(iter(campaigns.values()))


def describe_metric(metric: Metric, control: str | None) -> Metric:
    """Return a metric of values as `take_values` yields them."""
    if control is None:
        return metric
    return replace(metric, unit="", title=f"{metric.title} relative to {control}")


@dataclass(frozen=True, slots=True)
class Taken:
    """What one sample says of an arm, seen beside the control of its block."""

    values: Mapping[str, float]
    """By metric, those that are known."""
    limits: CpuLimits
    """The limits of CPU time that it or the control was under."""
    why_void: str | None
    """Why it says nothing, if it does not."""


def take_values(
    results: Results, work: tuple[str, str], arm: str, control: str | None, metrics: Sequence[Metric]
) -> Iterator[Taken]:
    """Yield the values of each sample of ``arm``, or its multiples of the control's in the same block."""
    mine = [each for each in results.judged_samples if (each.workload, each.load) == work]
    beside = {each.block: each for each in mine if each.arm == control}
    for sample in mine:
        if sample.arm == arm:
            yield _take(sample, beside.get(sample.block), control, metrics)


def _take(sample: Sample, beside: Sample | None, control: str | None, metrics: Sequence[Metric]) -> Taken:
    limits = sample.cpu_limits if beside is None else join_limits([sample.cpu_limits, beside.cpu_limits])
    if not sample.valid:
        return Taken({}, limits, sample.reason or "")
    if control is not None and beside is None:
        return Taken({}, limits, f"its block has no sample of the control {control}")
    if beside is not None and not beside.valid:
        return Taken({}, limits, f"the control {control} of its block is void: {beside.reason}")
    of_base = None if beside is None else beside.metrics
    values = {metric.name: _relate(sample.metrics, of_base, metric.name) for metric in metrics}
    return Taken({name: value for name, value in values.items() if value is not None}, limits, None)


def _relate(own: Mapping[str, float], base: Mapping[str, float] | None, name: str) -> float | None:
    value = own.get(name)
    if value is None or base is None:
        return value
    control = base.get(name, 0.0)
    return value / control if control > 0 and value > 0 and isfinite(value / control) else None


MOST_NAMED = 6
"""Campaigns that are named one by one."""


def describe_voids(campaigns: Mapping[str, Results]) -> Iterator[str]:
    """Yield one sentence of the samples that are void and therefore left out; none where all are valid."""
    counts = {name: [sample.valid for sample in results.judged_samples] for name, results in campaigns.items()}
    parts = [f"{valid.count(False)} of {len(valid)} of {name}" for name, valid in counts.items() if not all(valid)]
    if parts:
        more = f" and more of {len(parts) - MOST_NAMED} others" if len(parts) > MOST_NAMED else ""
        yield f"void samples are left out: {', '.join(parts[:MOST_NAMED])}{more}"


def describe_campaign(results: Results) -> dict[str, str]:
    """Return all that is known of what the samples were taken with."""
    days = sorted(each.conditions.started[:10] for each in results.samples if each.conditions is not None)
    facts = {"taken": days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"} if days else {}
    return facts | dict(flatten("", {k: v for k, v in results.fingerprint.items() if k not in _OF_EACH}))


def describe_arm(results: Results, arm: str) -> dict[str, str]:
    """Return all that is known of what was in charge."""
    return dict(flatten("", results.fingerprint.get(PER_ARM, {}).get(arm, {})))


def list_differences(described: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the facts that are not the same of all, and what each is by the name of what is described."""
    for key in dict.fromkeys(key for facts in described.values() for key in facts):
        values = {name: facts.get(key, "unknown") for name, facts in described.items()}
        if len(set(values.values())) > 1:
            yield key, values
