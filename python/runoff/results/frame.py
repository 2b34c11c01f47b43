"""Samples as a frame of pandas, for those who have it."""

import math
from typing import Any

from runoff.errors import MissingError
from runoff.results.values import Results, Sample

_ABOUT = ("block", "position", "arm", "workload", "load", "machine", "valid", "reason", "started")
"""Columns besides the metrics."""


def make_frame(results: Results) -> Any:
    """Return a ``pandas.DataFrame`` with a row for each sample in run order, and a column for each metric.

    Columns: ``block`` and ``position`` from 0 (blocks below 0 are for warming up), ``arm``, ``workload``, ``load``,
    ``machine``, ``valid``, ``reason`` (empty where it is valid), ``started``; then the metrics in their units, NaN
    where a sample lacks one (one that is named as another column is ``metric.NAME``). The index is the id of the
    sample. ``frame.attrs`` has ``baseline``, and by metric ``units`` and ``directions``.

    Raises MissingError without pandas, which runoff itself does not need.
    """
    try:
        import pandas
    except ImportError:
        raise MissingError("a frame needs pandas: pip install pandas") from None
    metrics = {metric.name: metric for each in results.metrics.values() for metric in each}
    columns = {name: f"metric.{name}" if name in _ABOUT else name for name in metrics}
    rows = [
        (*_describe(sample), *(sample.metrics.get(name, math.nan) for name in metrics)) for sample in results.samples
    ]
    index = pandas.Index([sample.id for sample in results.samples], name="id")
    frame = pandas.DataFrame(rows, columns=[*_ABOUT, *columns.values()], index=index)
    frame = frame.astype(dict.fromkeys(columns.values(), float))
    frame.attrs = {
        "baseline": results.arms[0],
        "units": {columns[name]: metric.unit for name, metric in metrics.items()},
        "directions": {columns[name]: metric.direction for name, metric in metrics.items()},
    }
    return frame


def _describe(sample: Sample) -> tuple[Any, ...]:
    """Return the values of the columns ``_ABOUT``."""
    started = sample.conditions.started if sample.conditions is not None else ""
    place = (sample.block, sample.position, sample.arm, sample.workload, sample.load, sample.machine)
    return (*place, sample.valid, sample.reason or "", started)
