"""Phoronix Test Suite: composite.xml, and the CSV of ``result-file-raw-to-csv``; a system is an arm, a test a workload.

The raw values of an entry are runs; where all were equal or there was one, there is its value alone.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree

from runoff.imports.values import File, FoundMetric, Number, Reading, Role
from runoff.results import Direction

FORMAT = "Phoronix's results"
_SIDES: dict[str, Direction] = {"HIB": "higher", "LIB": "lower"}
_LINES: dict[str, Direction] = {"Higher Results Are Better": "higher", "Lower Results Are Better": "lower"}
_ENTITY = "<!ENTITY"
_ARM, _WORK = "system", "test"
_OF_INSTALLATION = ("Test Install Time", "Test Install Size", "Test Installation Size")
_MEANS = re.compile(r'^"[^"]*",(HIB|LIB),', re.MULTILINE)


def recognise(file: File) -> bool:
    """Return whether it is of one of these formats."""
    head = file.text[:20_000]
    return "<PhoronixTestSuite>" in head or any(line in head for line in _LINES) or bool(_MEANS.search(head))


def read(file: File) -> Reading:
    """Return its runs. Raises UsageError."""
    if "<PhoronixTestSuite>" in file.text[:20_000]:
        tests = _read_xml(file)
    elif _MEANS.search(file.text[:20_000]):
        raise file.refuse("it has means alone: export it by phoronix-test-suite result-file-raw-to-csv")
    else:
        tests = _read_csv(file)
    metrics: dict[str, FoundMetric] = {}
    left_out: Counter[str] = Counter()
    numbers = []
    for position, (work, unit, direction, arm, values) in enumerate(tests):
        if work.startswith(_OF_INSTALLATION):
            left_out["about the installation of a test"] += len(values)
            continue
        name = _name_metric(unit, direction)
        metrics.setdefault(name, FoundMetric(name, unit, direction, "result"))
        keys = {_ARM: arm, _WORK: work}
        for run, value in enumerate(values):
            numbers.append(Number(name, value, keys, f"{work}, {arm}", f"{position}.{run}"))
    roles: dict[Role, tuple[str, ...]] = {"arm": (_ARM,), "workload": (_WORK,)}
    return Reading(FORMAT, numbers, list(metrics.values()), roles=roles, left_out=left_out)


_Test = tuple[str, str, Direction | None, str, list[str]]
"""Workload, unit, direction, arm, values."""


def _name_metric(unit: str, direction: Direction | None) -> str:
    """Return a name for all results that can be of one metric."""
    words = re.sub(r"\W+", "_", unit).strip("_")
    return "_".join(filter(None, ("result", words, "lower" if direction == "lower" else "")))


def _read_xml(file: File) -> Iterator[_Test]:
    if _ENTITY in file.text:
        raise file.refuse("it defines entities of XML, as no result of a test does")
    try:
        root = ElementTree.fromstring(file.text)
    except ElementTree.ParseError as error:
        raise file.refuse(f"it is not whole XML ({error})") from None
    for result in root.iter("Result"):
        # What a monitor has seen during a test, not a result of it.
        if result.findtext("DisplayFormat") == "LINE_GRAPH":
            continue
        parts = (result.findtext("Title", ""), result.findtext("AppVersion", ""))
        work = " - ".join(filter(None, (" ".join(filter(None, parts)), result.findtext("Description", ""))))
        for entry in result.iter("Entry"):
            raw = (entry.findtext("RawString") or "").strip() or (entry.findtext("Value") or "").strip()
            yield (
                work,
                result.findtext("Scale", ""),
                _SIDES.get(result.findtext("Proportion", "")),
                entry.findtext("Identifier", ""),
                [value for value in raw.split(":") if value],
            )


def _read_csv(file: File) -> Iterator[_Test]:
    work, direction = "", None
    for fields in csv.reader(io.StringIO(file.text)):
        values = [field.strip() for field in fields[1:] if field.strip()]
        if not fields or not fields[0].strip():
            continue
        if fields[0] in _LINES:
            direction = _LINES[fields[0]]
        elif values and direction is not None:
            yield work, "", direction, fields[0], values
        else:
            work, direction = fields[0], None
