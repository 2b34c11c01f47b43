"""A history as JSON."""

from typing import Any

from runoff.history.values import Change, Entry, History, Series
from runoff.history.wording import describe_outcome, find_size
from runoff.report.data.json_text import dump, round_significant
from runoff.statistics import Interval
from runoff.version import __version__

SCHEMA = "runoff.history/1"
"""Raised whenever a reader of the last version would misread this one."""


def render_json(history: History, *, indent: int | None = 1) -> str:
    """Return one document, keys in a fixed order."""
    return dump(
        {
            "schema": SCHEMA,
            "version": __version__,
            "order": history.order,
            "control": history.control,
            "outcome": list(describe_outcome(history)),
            "campaigns": [
                {
                    "name": place.campaign,
                    "day": place.day or None,
                    "commit": place.commit or None,
                    "machine": place.machine or None,
                }
                for place in history.places
            ],
            "series": [_make_series(series) for series in history.series],
            "warnings": list(history.warnings),
            "rerun": history.rerun,
        },
        indent=indent,
    )


def _make_series(series: Series) -> dict[str, Any]:
    return {
        "heading": series.heading,
        "metric": series.metric.name,
        "title": series.metric.title,
        "unit": series.metric.unit,
        "direction": series.metric.direction,
        "relative": series.is_relative,
        "fewest_campaigns": series.least,
        "entries": [_make_entry(series, entry) for entry in series.entries],
        "changes": [_make_change(series, change) for change in series.changes],
        "left_out": list(series.left_out),
    }


def _make_entry(series: Series, entry: Entry) -> dict[str, Any]:
    mean, interval = series.find_centre(entry)
    return {
        "campaign": entry.place.campaign,
        "n": entry.summary.n,
        "mean": round_significant(mean),
        "interval": _make_interval(interval),
    }


def _make_change(series: Series, change: Change) -> dict[str, Any]:
    size, interval = find_size(series, change)
    return {
        "campaign": series.entries[change.first].place.campaign,
        "before": series.entries[change.first - 1].place.campaign,
        "p": round_significant(change.p),
        "percent" if series.is_relative else "difference": round_significant(size),
        "interval": _make_interval(interval),
        "verdict": None if change.verdict is None else change.verdict.word,
        "differences": [{"fact": each.fact, "before": each.before, "after": each.after} for each in change.differences],
    }


def _make_interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round_significant(interval.low), round_significant(interval.high)]
