"""What can observe a workload while it runs, and the metrics that it adds; docs/probes.md tells what each counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from runoff.errors import UsageError
from runoff.results import PROBE_COST, Metric
from runoff.text import suggest

ALL = "all"
"""Stands for every probe; for that of the disk only if there is one."""

REQUESTS = "requests"
"""The probe that the disk's server has: it keeps what became of each request."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the kernel."""

    name: str
    title: str
    metrics: tuple[Metric, ...]


def _make_count(name: str, title: str, unit: str = "") -> Metric:
    return Metric(name, unit, "none", title)


def _times(name: str, title: str) -> tuple[Metric, ...]:
    titles = {
        "mean": f"mean {title}", "p50": f"median {title}", "p90": f"{title} p90", "p99": f"{title} p99",
        "max": f"longest {title}",
    }  # fmt: skip
    return tuple(_make_count(f"{name}_{short}_us", words, "us") for short, words in titles.items())


PROBES = (
    Probe(
        "wakeups",
        "how long woken tasks wait until they run",
        (*_times("wakeup_latency", "wake-up latency"), _make_count("wakeups", "wake-ups")),
    ),
    Probe(
        "turns",
        "how long tasks run at a time, and how often they are preempted",
        (
            *_times("turn", "time on a CPU at a time"),
            _make_count("turns", "turns on a CPU"),
            _make_count("preemptions", "preemptions"),
        ),
    ),
    Probe(
        "idle",
        "for how long a CPU is idle while a task waits for one",
        (
            _make_count("idle_while_waiting_s", "time with an idle CPU while a task waits", "s"),
            _make_count("idle_while_waiting_count", "times with an idle CPU while a task waits"),
            _make_count(
                "idle_while_waiting_longest_s", "longest time a CPU was idle that a waiting task might use", "s"
            ),
        ),
    ),
    Probe(
        "migrations",
        "moves between CPUs by what the two share",
        (
            _make_count("migrations_same_core", "moves within a core"),
            _make_count("migrations_same_cache", "moves within a last-level cache"),
            _make_count("migrations_same_node", "moves within a node"),
            _make_count("migrations_far", "moves between nodes"),
        ),
    ),
    Probe(
        "scheduler",
        "how long the scheduler itself runs, if it is a sched_ext one",
        (
            _make_count("scheduler_time_s", "run time of the scheduler itself", "s"),
            _make_count("scheduler_calls", "calls of the scheduler"),
        ),
    ),
    Probe(
        REQUESTS,
        "what became of each request of the disk, of arms with +io=",
        (_make_count("requests_dropped", "disk: requests that were too many for the log"),),
    ),
)

COST = _make_count(PROBE_COST, "time in probes (100 is one CPU)", "%")
"""What observing took, in every sample with a probe."""


def parse_probes(names: Sequence[str], *, makes_disks: bool) -> tuple[str, ...]:
    """Return names as a plan has them: known, each once, in the order of `PROBES`. Raises UsageError.

    ``makes_disks``: some arm has a disk behind an elevator that runoff makes.
    """
    known = [probe.name for probe in PROBES]
    for name in names:
        if name not in known and name != ALL:
            raise UsageError(f"unknown probe {name!r}{suggest(name, [*known, ALL])}")
    if REQUESTS in names and not makes_disks:
        raise UsageError(
            f"the probe {REQUESTS} is for disks that runoff makes: add an arm such as default+io=cfq, without --place"
        )
    wanted = [name for name in known if name != REQUESTS or makes_disks] if ALL in names else names
    return tuple(name for name in known if name in wanted)


def list_probe_metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """Return all that probes of these names add to a sample."""
    metrics = [metric for probe in PROBES if probe.name in names for metric in probe.metrics]
    in_kernel = any(name != REQUESTS for name in names)
    return (*metrics, COST) if in_kernel else tuple(metrics)
