"""criterion's ``sample.json``, below target/criterion: each sample is some iterations in some nanoseconds."""

from pathlib import PurePath

from runoff.imports import json_text
from runoff.imports.values import File, Number, Reading, make_time, parse_number

FORMAT = "criterion's samples"
_CASE = "benchmark"
_NOTE = "samples of one process: what differs between processes is not in their spread"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return json_text.looks_like(file.text, "iters", "times")


def read(file: File) -> Reading:
    """Return its samples. Raises UsageError."""
    document = json_text.parse(file)
    iterations = json_text.take(document, "iters", list, file, "it")
    times = json_text.take(document, "times", list, file, "it")
    if len(iterations) != len(times):
        raise file.refuse(f"it has {len(iterations)} numbers of iterations and {len(times)} times")
    keys = {_CASE: _name(PurePath(file.name))}
    numbers = []
    for run, (count, time) in enumerate(zip(iterations, times, strict=True)):
        iterated = parse_number(count, file, f"iters[{run}]")
        if iterated <= 0:
            raise file.refuse(f"iters[{run}] has {count}, and a sample has one iteration at least")
        each = parse_number(time, file, f"times[{run}]") / iterated
        numbers.append(Number("time_ns", each, keys, f"times[{run}]", str(run)))
    return Reading(FORMAT, numbers, [make_time("time_ns", "time per iteration", "ns")], case=_CASE, notes=(_NOTE,))


def _name(path: PurePath) -> str:
    """Return the benchmark's name: that of the folders between ``criterion`` and ``new``, or another baseline."""
    folders = path.parts[:-2]
    below = folders[folders.index("criterion") + 1 :] if "criterion" in folders else folders[-1:]
    return "/".join(below) or path.stem
