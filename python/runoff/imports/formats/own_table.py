"""The table of ``runoff report --csv``: every sample of a campaign, void ones too."""

from collections.abc import Mapping
from dataclasses import replace

from runoff.imports.formats.separated import Table, parse
from runoff.imports.formats.tables import read_table
from runoff.imports.values import File, Reading

FORMAT = "runoff's own table"
_ABOUT = ("id", "engine", "clock", "position", "warmup", "headline")
"""Columns that say how a sample was taken, and what a report shows of it."""
_CONDITIONS = ("started", "load1_before", "temperature_c", "frequency_khz")
"""More of them, which older tables do not have."""
_OTHERS = ("arm", "workload", "load", "valid", "reason", "metric", "unit", "direction", "value")
_LONGEST = 1000
"""More characters than its header has."""
_WARMUP = "for warming up"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    header = file.text[:_LONGEST].partition("\n")[0].strip().split(",")
    return {*_ABOUT, *_OTHERS} <= set(header)


def read(file: File, wanted: Mapping[str, str]) -> Reading:
    """Return its numbers, without those of samples for warming up. Raises UsageError."""
    table = parse(file)
    is_judged = [cell != "yes" for cell in table.columns["warmup"]]
    judged = [number for number, is_it in enumerate(is_judged) if is_it]
    rows, lines = tuple(table.rows[number] for number in judged), tuple(table.lines[number] for number in judged)
    about = [*_ABOUT, *(name for name in _CONDITIONS if name in table.header)]
    ignored = "+".join(name for name in about if name not in "+".join(wanted.values()).split("+"))
    reading = read_table(Table(table.header, rows, lines), {"ignore": ignored, **wanted}, file)
    warmups = len(table.rows) - len(judged)
    headlines = {
        name for name, shown in zip(table.columns["metric"], table.columns["headline"], strict=True) if shown == "yes"
    }
    metrics = [replace(metric, is_headline=metric.name in headlines) for metric in reading.metrics]
    return replace(reading, format=FORMAT, metrics=metrics, left_out={_WARMUP: warmups} if warmups else {})
