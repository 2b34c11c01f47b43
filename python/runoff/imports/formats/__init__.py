"""The formats that are read, and which one a file has."""

from collections.abc import Callable, Mapping, Sequence

from runoff.imports.formats import (
    criterion,
    fio,
    go_benchmark,
    google_benchmark,
    hyperfine,
    jmh,
    mangohud,
    perf_stat,
    phoronix,
    pytest_benchmark,
    tables,
)
from runoff.imports.reading import File, Reading

_FORMATS: Sequence[tuple[Callable[[File], bool], Callable[[File], Reading]]] = [
    (module.recognise, module.read)
    for module in (
        hyperfine,
        google_benchmark,
        pytest_benchmark,
        jmh,
        fio,
        criterion,
        phoronix,
        mangohud,
        go_benchmark,
        perf_stat,
    )
]
"""What is unmistakable comes first; tables are the rest."""
KNOWN = (
    "CSV and TSV, benchmarks of hyperfine, Go, Google Benchmark, criterion, pytest-benchmark and JMH, Phoronix's XML "
    "and CSV, perf stat -x, fio and MangoHud"
)


def read(file: File, columns: Mapping[str, str]) -> Reading:
    """Return what the file holds; ``columns`` are for tables. Raises UsageError."""
    for recognise, read_it in _FORMATS:
        if recognise(file):
            return read_it(file)
    if tables.recognise(file):
        return tables.read(file, columns)
    raise file.refuse(f"it is of no format that is read: {KNOWN} are")
