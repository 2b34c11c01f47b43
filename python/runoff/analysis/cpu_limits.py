"""Limits of CPU time that work was under, and which arms apply them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runoff.results import CpuLimits, Results, Sample


@dataclass(frozen=True, slots=True)
class LimitedWork:
    """Work of samples in one place was in control groups with limits of CPU time."""

    place: str
    limits: tuple[str, ...]
    """Such as ``/g: cpu.max 20000 100000``."""
    applying: tuple[str, ...]
    """Arms whose scheduler applies them."""
    ignoring: tuple[str, ...]
    """Arms whose scheduler does not."""
    unknown: tuple[str, ...]
    """Arms of which that is not known."""

    @property
    def may_differ(self) -> bool:
        """Whether a difference between arms may be that of the limits."""
        arms = len(self.applying) + len(self.ignoring) + len(self.unknown)
        return arms > 1 and len(self.applying) < arms and len(self.ignoring) < arms


@dataclass(frozen=True, slots=True)
class UnwatchedGroups:
    """Limits may have gone unseen."""

    samples: int
    why: str
    """The reason of the first of these samples."""


@dataclass(frozen=True, slots=True)
class IgnoredLimits:
    """Limits that the plan asks for under schedulers that do not apply any, or of which that is not known."""

    limits: tuple[str, ...]
    """Such as ``quota=50%``."""
    arms: tuple[str, ...]
    is_known: bool


@dataclass(frozen=True, slots=True)
class ExceededQuota:
    """A quota that the plan asks for and that was exceeded, under schedulers that may or may not apply limits."""

    limit: str
    """Such as ``quota=50%``."""
    arms: tuple[str, ...]
    percent: float
    """The most of it that a sample used."""


LimitFinding = LimitedWork | UnwatchedGroups | IgnoredLimits | ExceededQuota

EXCEEDED_PCT = 120.0
"""Use of a quota that no rounding explains: the kernel gives it every 0.1 s, in slices for each CPU."""
_OF_LOAD = " of the load"


def find_limits(results: Results) -> Iterator[LimitFinding]:
    """Yield the places where arms had limits that not all of them apply, or that none does."""
    cells: dict[str, list[Sample]] = {}
    for sample in results.judged_samples:
        if sample.valid:
            cells.setdefault(sample.work.label(len(results.loads)), []).append(sample)
    for place, samples in cells.items():
        found = _find_limited(place, samples, results.arms)
        if found.limits and (found.may_differ or found.ignoring):
            yield found
    unwatched = [s.cpu_limits.unwatched for each in cells.values() for s in each if s.cpu_limits.unwatched]
    if unwatched:
        yield UnwatchedGroups(len(unwatched), unwatched[0])
    valid = [sample for samples in cells.values() for sample in samples]
    exceeded = _measure_exceeded(valid)
    yield from _find_ignored(valid, results.arms, exceeded)
    for limit in dict.fromkeys(limit for sample in valid for limit in sample.cpu_limits.asked):
        arms = tuple(arm for arm in results.arms if (arm, limit) in exceeded)
        if arms:
            yield ExceededQuota(limit, arms, max(exceeded[arm, limit] for arm in arms))


def _measure_exceeded(samples: Sequence[Sample]) -> dict[tuple[str, str], float]:
    """Return the largest use in percent of each quota that was exceeded, by arm and limit."""
    exceeded: dict[tuple[str, str], float] = {}
    for sample in samples:
        for limit in sample.cpu_limits.asked if sample.cpu_limits.applied is None else ():
            metric = "load_quota_used_pct" if limit.endswith(_OF_LOAD) else "quota_used_pct"
            used = sample.metrics.get(metric, 0.0) if limit.startswith("quota=") else 0.0
            if used > EXCEEDED_PCT:
                exceeded[sample.arm, limit] = max(used, exceeded.get((sample.arm, limit), 0.0))
    return exceeded


def _find_ignored(
    samples: Sequence[Sample], arms: Sequence[str], exceeded: Collection[tuple[str, str]]
) -> Iterator[IgnoredLimits]:
    """Yield the limits that the plan asks for in vain, but for those that were ``exceeded``, arms with the same ones
    together."""
    for is_known, applied in ((True, False), (False, None)):
        asked: dict[str, dict[str, None]] = {}
        for sample in samples:
            if sample.cpu_limits.applied is applied:
                ignored = [limit for limit in sample.cpu_limits.asked if (sample.arm, limit) not in exceeded]
                asked.setdefault(sample.arm, {}).update(dict.fromkeys(ignored))
        alike: dict[tuple[str, ...], list[str]] = {}
        for arm in arms:
            if limits := tuple(asked.get(arm, ())):
                alike.setdefault(limits, []).append(arm)
        for limits, having in alike.items():
            yield IgnoredLimits(limits, tuple(having), is_known)


def join_limits(limits: Sequence[CpuLimits]) -> CpuLimits:
    """Return the limits of a value that several samples make up."""
    applied = {each.applied for each in limits}
    return CpuLimits(
        found=tuple(sorted({limit for each in limits for limit in each.found})),
        asked=tuple(sorted({limit for each in limits for limit in each.asked})),
        unwatched=next((each.unwatched for each in limits if each.unwatched), ""),
        applied=applied.pop() if len(applied) == 1 else None,
    )


def _find_limited(place: str, samples: Sequence[Sample], arms: Sequence[str]) -> LimitedWork:
    applied: Mapping[str, bool | None] = {sample.arm: sample.cpu_limits.applied for sample in samples}

    def list_arms(wanted: bool | None) -> tuple[str, ...]:
        return tuple(arm for arm in arms if arm in applied and applied[arm] is wanted)

    limits = tuple(sorted({limit for sample in samples for limit in sample.cpu_limits.found}))
    return LimitedWork(place, limits, list_arms(True), list_arms(False), list_arms(None))
