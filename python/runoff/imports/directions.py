"""Which way is better, from what is counted or measured. What no list here knows is asked for."""

import re

from runoff.imports.values import FoundMetric
from runoff.results import Direction
from runoff.units import RATES, TIME, is_known

_BAD = frozenset((
    "abort", "aborts", "collision", "collisions", "crash", "crashes", "delay", "delays", "drop", "dropped",
    "drops", "error", "errors", "evictions", "fail", "failed", "fails", "failure", "failures", "fault",
    "faults", "jitter", "lag", "lags", "late", "latencies", "latency", "lost", "migration", "migrations",
    "miss", "missed", "misses", "overrun", "overruns", "reject", "rejected", "rejects", "retries", "retry",
    "stall", "stalled", "stalls", "switch", "switches", "throttled", "timeout", "timeouts", "underrun",
    "underruns", "violation", "violations", "wait", "waits", "xrun", "xruns",
))  # fmt: skip
"""Less of these is better, in a number of them and in a rate of them."""
_GOOD = frozenset((
    "bandwidth", "bw", "bytes", "fps", "frames", "iops", "items", "messages", "op", "operations", "ops", "qps",
    "queries", "reads", "req", "requests", "rps", "score", "throughput", "tps", "transactions", "writes",
))  # fmt: skip
"""More of these is better, in a rate of them."""
_RATES = frozenset(("bandwidth", "bw", "fps", "iops", "qps", "rps", "throughput", "tps"))
"""Names and units of rates, of which more is better."""
_GAPS = frozenset((
    "before", "between", "lifetime", "to", "until", "uptime",
))  # fmt: skip
"""Words that turn a time around: more time between failures is better."""
_PREFIXES = "kKMG"
"""Letters before a unit such as Mops."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def find_direction(metric: FoundMetric) -> Direction | None:
    """Return the direction that a metric has, or else the one that its name and unit tell; None if they do not."""
    if metric.direction is not None:
        return metric.direction
    unit = metric.unit
    counted = unit.partition("/")[0]
    words = _split(metric.name) | _split(metric.title) | _split(counted) | _split(counted.lstrip(_PREFIXES))
    if unit in TIME or (unit.endswith("/op") and is_known(unit.partition("/")[0])):
        return None if words & _GAPS else "lower"
    if words & _BAD:
        return None if words & _GAPS else "lower"
    if unit in RATES or words & _RATES:
        return "higher"
    return "higher" if _is_per_time(unit) and words & _GOOD else None


def _is_per_time(unit: str) -> bool:
    return "/" in unit and unit.rpartition("/")[2] in TIME


def _split(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
