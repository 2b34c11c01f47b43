"""What can observe a workload while it runs, and the metrics that it adds; docs/probes.md tells what each counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from runoff.errors import UsageError
from runoff.results import PROBE_COST, Metric
from runoff.text import closest

ALL = "all"
"""Stands for every probe."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the kernel."""

    name: str
    title: str
    metrics: tuple[Metric, ...]


def _counted(name: str, title: str, unit: str = "") -> Metric:
    return Metric(name, unit, "none", title)


def _times(name: str, title: str) -> tuple[Metric, ...]:
    titles = {
        "mean": f"mean {title}", "p50": f"median {title}", "p90": f"{title} p90", "p99": f"{title} p99",
        "max": f"longest {title}",
    }  # fmt: skip
    return tuple(_counted(f"{name}_{short}_us", words, "us") for short, words in titles.items())


PROBES = (
    Probe(
        "wakeups",
        "how long woken tasks wait until they run",
        (*_times("wakeup_latency", "wake-up latency"), _counted("wakeups", "wake-ups")),
    ),
    Probe(
        "turns",
        "how long tasks run at a time, and how often they are preempted",
        (
            *_times("turn", "time on a CPU at a time"),
            _counted("turns", "turns on a CPU"),
            _counted("preemptions", "preemptions"),
        ),
    ),
    Probe(
        "idle",
        "for how long a CPU is idle while a task waits for one",
        (
            _counted("idle_while_waiting_s", "time with an idle CPU while a task waits", "s"),
            _counted("idle_while_waiting_count", "times with an idle CPU while a task waits"),
        ),
    ),
    Probe(
        "migrations",
        "moves between CPUs by what the two share",
        (
            _counted("migrations_same_core", "moves within a core"),
            _counted("migrations_same_cache", "moves within a last-level cache"),
            _counted("migrations_same_node", "moves within a node"),
            _counted("migrations_far", "moves between nodes"),
        ),
    ),
    Probe(
        "scheduler",
        "how long the scheduler itself runs, if it is a sched_ext one",
        (
            _counted("scheduler_time_s", "run time of the scheduler itself", "s"),
            _counted("scheduler_calls", "calls of the scheduler"),
        ),
    ),
)

COST = _counted(PROBE_COST, "time in probes (100 is one CPU)", "%")
"""What observing took, in every sample with a probe."""


def parse_probes(names: Sequence[str]) -> tuple[str, ...]:
    """Names as a plan has them: known, each once, in the order of `PROBES`. Raises UsageError."""
    known = [probe.name for probe in PROBES]
    for name in names:
        if name not in known and name != ALL:
            raise UsageError(f"unknown probe {name!r}{closest(name, [*known, ALL])}")
    return tuple(name for name in known if ALL in names or name in names)


def probe_metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """All that probes of these names add to a sample."""
    metrics = [metric for probe in PROBES if probe.name in names for metric in probe.metrics]
    return (*metrics, COST) if metrics else ()
