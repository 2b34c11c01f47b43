"""JMH's CSV (``-rf csv``): a line is the score of a benchmark over all its iterations, so that a file is one run."""

from runoff.imports.formats.jmh import NAME, describe_metric
from runoff.imports.formats.separated import parse
from runoff.imports.values import File, FoundMetric, Number, Reading

FORMAT = "JMH's CSV"
_BENCHMARK, _MODE, _THREADS, _SCORE, _UNIT = "Benchmark", "Mode", "Threads", "Score", "Unit"
_HEADER = f'"{_BENCHMARK}","{_MODE}","{_THREADS}","Samples","{_SCORE}",'
_PARAMETER = "Param: "
_SECONDARY = ":"
_SCORES = "JMH's CSV has scores alone, so that a file is one run: -rf json has every fork"


def recognise(file: File) -> bool:
    """Return whether it is of this format."""
    return file.text.startswith(_HEADER)


def read(file: File) -> Reading:
    """Return its scores. Raises UsageError."""
    table = parse(file)
    parameters = {name.removeprefix(_PARAMETER): name for name in table.header if name.startswith(_PARAMETER)}
    metrics: dict[str, FoundMetric] = {}
    numbers = []
    for row, line in zip(table.rows, table.lines, strict=True):
        cells = dict(zip(table.header, row, strict=True))
        name, _, secondary = cells[_BENCHMARK].partition(_SECONDARY)
        found = describe_metric(cells[_MODE], cells[_UNIT])
        metric = FoundMetric(secondary, cells[_UNIT]) if secondary else found
        metrics.setdefault(metric.name, metric)
        keys = {"mode": cells[_MODE], "threads": cells[_THREADS], NAME: name}
        keys |= {key: cells[header] for key, header in parameters.items() if cells[header]}
        where = f"line {line}"
        numbers.append(Number(metric.name, cells[_SCORE], keys, where, unit=cells[_UNIT]))
    return Reading(
        FORMAT,
        numbers,
        list(metrics.values()),
        case=NAME,
        roles={"workload": (NAME, *parameters)} if parameters else {},
        parts=frozenset(("mode", "threads")),
        is_one_run=True,
        notes=(_SCORES,),
    )
