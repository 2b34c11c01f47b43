"""What samples are: what engines produce, campaigns store and statistics read."""

from runoff.results.values import (
    FIRST_LOOK,
    NO_LOAD,
    PROBE_COST,
    Clock,
    Conditions,
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
    "NO_LOAD",
    "PROBE_COST",
    "Clock",
    "Conditions",
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
