"""MSI Afterburner's log: frame rate and frame time as they were at each look. A file is a run.

A line begins with its kind: 02 has the names of the columns, 80 their values; between them stands the time. Looks are
100 ms apart or more, so that most frames are not in the log.
"""

import csv
from collections.abc import Iterator, Mapping

from runoff.imports.values import File, FoundMetric, Number, Reading, parse_number

FORMAT = "MSI Afterburner's log"
_MARK = "Hardware monitoring log v"
_NAMES, _VALUES = "02", "80"
_METRICS: Mapping[str, FoundMetric] = {
    "Frametime": FoundMetric("frame_time_ms", "ms", "lower", "mean frame time"),
    "Framerate": FoundMetric("frame_rate_fps", "fps", "higher", "mean frame rate"),
}
_ABSENT = ("", "N/A")
_SAMPLED = "the log has the frame time at each look alone: what single frames took is not in it"
_JOINED, _OTHERS = "part of a mean over looks", "of other sensors"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return _MARK in file.text.partition("\n")[0]


def read(file: File) -> Reading:
    """Return its run. Raises UsageError."""
    columns: dict[str, list[float]] = {}
    others = 0
    for cells, where in _list_looks(file):
        for name, text in cells.items():
            if name not in _METRICS:
                others += 1
            elif text not in _ABSENT and (value := parse_number(text, file, where)) > 0:
                columns.setdefault(name, []).append(value)
    if not columns:
        raise file.refuse("it has no frame time and no frame rate: let Afterburner log them, then play once more")
    metrics = [_METRICS[name] for name in columns]
    numbers = [
        Number(_METRICS[name].name, sum(values) / len(values), {}, f"column {name}") for name, values in columns.items()
    ]
    joined = sum(len(values) - 1 for values in columns.values())
    left_out = {_JOINED: joined, _OTHERS: others}
    return Reading(
        FORMAT,
        numbers,
        metrics,
        is_one_run=True,
        left_out=left_out,
        notes=(_SAMPLED,),
    )


def _list_looks(file: File) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the values of each look by sensor, and where they are."""
    names: list[str] = []
    for position, line in enumerate(file.text.splitlines(), 1):
        kind, _, *cells = [cell.strip() for cell in next(csv.reader([line]), [])] or ["", ""]
        if kind == _NAMES:
            names = cells
        elif kind == _VALUES:
            if len(cells) < len(names):
                raise file.refuse(f"line {position} has {len(cells)} values, and there are {len(names)} sensors")
            yield dict(zip(names, cells, strict=False)), f"line {position}"
