"""Threads of the work that were above every scheduler of sched_ext."""

from collections.abc import Iterator
from dataclasses import dataclass

from runoff.results import Results, Threads


@dataclass(frozen=True, slots=True)
class RealTimeThreads:
    """Work of arms in one place had real-time threads, about which its scheduler does not decide."""

    place: str
    arms: tuple[str, ...]
    threads: Threads
    """The counts of the sample in which they were the largest share."""


def find_real_time(results: Results) -> Iterator[RealTimeThreads]:
    """Yield the places with real-time threads by name, arms of one place together."""
    most: dict[str, Threads] = {}
    arms: dict[str, set[str]] = {}
    for sample in results.judged_samples:
        if sample.valid and sample.threads.realtime:
            place = sample.work.label(len(results.loads))
            most[place] = max(most.get(place, sample.threads), sample.threads, key=lambda each: each.share)
            arms.setdefault(place, set()).add(sample.arm)
    for place, threads in sorted(most.items()):
        yield RealTimeThreads(place, tuple(arm for arm in results.arms if arm in arms[place]), threads)
