"""The results of campaigns: engines produce samples, campaigns store them, statistics read them."""

from runoff.results.values import (
    FIRST_LOOK,
    IMPORTED,
    NO_LOAD,
    PROBE_COST,
    Clock,
    Conditions,
    CpuLimits,
    Direction,
    Ended,
    EngineName,
    LoadedWork,
    Metric,
    Results,
    Sample,
    Sort,
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
    "Direction",
    "Ended",
    "EngineName",
    "LoadedWork",
    "Metric",
    "Results",
    "Sample",
    "Sort",
    "StoredLog",
]
