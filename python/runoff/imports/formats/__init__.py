"""The formats that are read, and which one a file has."""

from collections.abc import Callable, Mapping
from types import ModuleType

from runoff.errors import UsageError
from runoff.imports.formats import (
    afterburner,
    criterion,
    cyclictest,
    fio,
    go_benchmark,
    google_benchmark,
    hyperfine,
    jmh,
    jmh_csv,
    libtest,
    mangohud,
    own_table,
    perf_stat,
    phoronix,
    pytest_benchmark,
    tables,
)
from runoff.imports.roles import OF_TABLES
from runoff.imports.values import File, Reading, refuse_too_many
from runoff.separated import is_number

TABLE = "table"
_OWN_TABLE = "runoff"
_PROGRAMS: Mapping[str, ModuleType] = {
    "hyperfine": hyperfine,
    "google-benchmark": google_benchmark,
    "pytest-benchmark": pytest_benchmark,
    "jmh": jmh,
    "jmh-csv": jmh_csv,
    "fio": fio,
    "criterion": criterion,
    "phoronix": phoronix,
    "mangohud": mangohud,
    "afterburner": afterburner,
    "cyclictest": cyclictest,
    "cargo-bench": libtest,
    "go": go_benchmark,
    "perf": perf_stat,
}
_TABLES: Mapping[str, Callable[[File, Mapping[str, str]], Reading]] = {
    _OWN_TABLE: own_table.read,
    TABLE: tables.read,
}
NAMES = (TABLE, _OWN_TABLE, *_PROGRAMS)
"""Names of the formats for ``--format``."""
_LONGEST_LINE = 1 << 20
_LONGEST_DOCUMENT = 64 << 20
"""Characters of JSON or XML, of which a parsed document takes up to twenty times as many bytes."""
KNOWN = (
    "tables, benchmarks of hyperfine, Go, Google Benchmark, cargo bench, criterion, pytest-benchmark and JMH, "
    "Phoronix's XML and CSV, perf stat -x and -j, fio, cyclictest, MangoHud and Afterburner"
)


def read(file: File, roles: Mapping[str, str], name: str = "") -> Reading:
    """Return what the file holds; ``roles`` are what the user says of its keys, ``name`` its format, if that is given.

    Raises UsageError, also where several formats would read the file.
    """
    chosen = name or _recognise(file, is_table=any(role in OF_TABLES for role in roles))
    if chosen in _TABLES:
        return _TABLES[chosen](file, roles)
    wrong = next((role for role in roles if role in OF_TABLES), None)
    if wrong is not None:
        raise file.refuse(f"--columns {wrong}= is for tables, and this is {_PROGRAMS[chosen].FORMAT}")
    reading: Reading = _PROGRAMS[chosen].read(file)
    return reading


def check_name(name: str) -> str:
    """Return the name of a format. Raises UsageError if there is none of it."""
    if name and name not in NAMES:
        raise UsageError(f"--format {name}: the names are {', '.join(NAMES)}")
    return name


def _recognise(file: File, *, is_table: bool) -> str:
    """Return the name of the file's format; only that of a table if it has to be one. Raises UsageError."""
    _refuse_what_is_too_long(file)
    if own_table.recognise(file):
        return _OWN_TABLE
    if is_table and tables.recognise(file):
        return TABLE
    found = [name for name, module in _PROGRAMS.items() if module.recognise(file)]
    if len(found) > 1:
        raise file.refuse(f"it may be of {' or '.join(found)}: add --format {found[0]} or --format {found[1]}")
    if found:
        return found[0]
    if tables.recognise(file):
        return TABLE
    raise file.refuse(_explain_unknown(file))


def _refuse_what_is_too_long(file: File) -> None:
    """Raise UsageError for a document or a line that is longer than any; a document may be one line."""
    if fio.recognise(file) or _is_document(file.text):
        if len(file.text) > _LONGEST_DOCUMENT:
            raise file.refuse(f"it has more than {_LONGEST_DOCUMENT >> 20} MiB, and no program's document is as long")
        refuse_too_many(max(map(file.text.count, ",:")), file)
        return
    for number, line in enumerate(file.text.splitlines(), 1):
        if len(line) > _LONGEST_LINE:
            raise file.refuse(f"line {number} has {len(line):,} characters, and no format has such lines")
        refuse_too_many(number, file)


def _is_document(text: str) -> bool:
    return text[:1000].lstrip()[:1] in ("{", "[", "<")


def _explain_unknown(file: File) -> str:
    why = f"it is of no format that is read: {KNOWN} are"
    first = next((line for line in file.text.splitlines() if line.strip() and not line.startswith("#")), "")
    words = first.replace(",", " ").replace(";", " ").split()
    if len(words) > 1 and any(map(is_number, words)) and not _is_document(file.text):
        return f"{why}; if it is a table, its first line needs the names of the columns"
    return why
