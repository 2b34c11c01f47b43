"""The results of campaigns: engines produce samples, campaigns store them, statistics read them."""

from runoff.engine_kinds import Clock
from runoff.results.values import (
    FIRST_LOOK,
    IMPORTED,
    NO_LOAD,
    PROBE_COST,
    Conditions,
    CpuLimits,
    Descriptions,
    Direction,
    Ended,
    LoadedWork,
    Metric,
    Results,
    Sample,
    Sort,
    Stopping,
    StoppingRule,
    StoredLog,
)

__all__ = [
    "FIRST_LOOK",
    "IMPORTED",
    "NO_LOAD",
    "PROBE_COST",
    "Clock",
    "Conditions",
    "CpuLimits",
    "Descriptions",
    "Direction",
    "Ended",
    "LoadedWork",
    "Metric",
    "Results",
    "Sample",
    "Sort",
    "Stopping",
    "StoppingRule",
    "StoredLog",
]
