"""Limits of CPU time that work was under, and which arms apply them."""

from collections.abc import Iterator, Mapping, Sequence
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


def find_limits(results: Results) -> Iterator[LimitedWork | UnwatchedGroups]:
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


def join_limits(limits: Sequence[CpuLimits]) -> CpuLimits:
    """Return the limits of a value that several samples make up."""
    applied = {each.applied for each in limits}
    return CpuLimits(
        found=tuple(sorted({limit for each in limits for limit in each.found})),
        unwatched=next((each.unwatched for each in limits if each.unwatched), ""),
        applied=applied.pop() if len(applied) == 1 else None,
    )


def _find_limited(place: str, samples: Sequence[Sample], arms: Sequence[str]) -> LimitedWork:
    applied: Mapping[str, bool | None] = {sample.arm: sample.cpu_limits.applied for sample in samples}

    def list_arms(wanted: bool | None) -> tuple[str, ...]:
        return tuple(arm for arm in arms if arm in applied and applied[arm] is wanted)

    limits = tuple(sorted({limit for sample in samples for limit in sample.cpu_limits.found}))
    return LimitedWork(place, limits, list_arms(True), list_arms(False), list_arms(None))
