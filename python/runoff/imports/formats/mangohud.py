"""MangoHud's log of frames: a file is a run, with its mean frame time, the 99th percentile, and the 1 % low.

Frame times are in microseconds before version 0.7 and in milliseconds since; the frames per second beside them tell
which.
"""

import csv
import io
import math
import statistics
from collections.abc import Sequence

from runoff.imports.values import File, FoundMetric, Number, Reading, parse_number

FORMAT = "MangoHud's log"
_METRICS = (
    FoundMetric("frame_time_ms", "ms", "lower", "mean frame time"),
    FoundMetric("frame_time_p99_ms", "ms", "lower", "99th percentile of frame times"),
    FoundMetric("low_1pct_fps", "fps", "higher", "frame rate of the slowest 1 % of frames"),
)
_HEADER = "fps,frametime,"
_SUMMARY = "0.1% Min FPS,"
_FEWEST = 2
_MOST_UNSEEN = 0.5
"""Share of the time that logged frames may leave out, as they do with ``log_interval``."""


def recognise(file: File) -> bool:
    """Return whether it is a log, or the summary of one."""
    lines = file.text[:20_000].splitlines()
    return any(line.startswith(_HEADER) for line in lines) or file.text.startswith(_SUMMARY)


def read(file: File) -> Reading:
    """Return its run. Raises UsageError."""
    if file.text.startswith(_SUMMARY):
        raise file.refuse("it is the summary of a log: give the log itself, whose name has no _summary")
    lines = file.text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(_HEADER))
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    rows, frames_ms = _read_frames(rows, file)
    if len(frames_ms) < _FEWEST:
        raise file.refuse("it has no two frames")
    slowest = sorted(frames_ms)[-max(1, len(frames_ms) // 100) :]
    values = (
        statistics.fmean(frames_ms),
        statistics.quantiles(frames_ms, n=100)[98],
        1000 / statistics.fmean(slowest),
    )
    numbers = [Number(metric.name, value, {}, "its frames") for metric, value in zip(_METRICS, values, strict=True)]
    return Reading(FORMAT, numbers, _METRICS, is_one_run=True, notes=_describe_gaps(rows, frames_ms, file))


def _read_frames(rows: Sequence[dict[str, str]], file: File) -> tuple[list[dict[str, str]], list[float]]:
    """Return rows and their frame times in milliseconds, without frames that began before the log did.

    The first rows of a log that starts with the program are such.
    """
    if not rows:
        return [], []
    times = [parse_number(row["frametime"], file, "frametime") for row in rows]
    rates = [parse_number(row["fps"], file, "fps") for row in rows]
    per_second = statistics.median(time * rate for time, rate in zip(times, rates, strict=True))
    for factor in (1.0, 1000.0):
        if 0.5 < per_second / (1000 * factor) < 2:
            frames = [(row, time / factor) for row, time in zip(rows, times, strict=True)]
            whole = [(row, time) for row, time in frames if time <= _find_age_ms(row, file)]
            return [row for row, _ in whole], [time for _, time in whole]
    raise file.refuse("its frame times and frames per second do not fit together")


def _find_age_ms(row: dict[str, str], file: File) -> float:
    """Return how old the log was, in milliseconds; infinite where it does not say that."""
    return parse_number(row["elapsed"], file, "elapsed") / 1e6 if "elapsed" in row else math.inf


def _describe_gaps(rows: Sequence[dict[str, str]], frames_ms: Sequence[float], file: File) -> tuple[str, ...]:
    """Say if only some of the frames were logged."""
    if "elapsed" not in rows[0]:
        return ()
    first, last = (parse_number(row["elapsed"], file, "elapsed") for row in (rows[0], rows[-1]))
    if sum(frames_ms[1:]) >= (1 - _MOST_UNSEEN) * (last - first) / 1e6:
        return ()
    return ("of some logs only a part of the frames is known: MangoHud logs all of them with log_interval=0",)
