"""Tables with a header. There are three shapes:

- long: a row for each number, with columns for what it is: ``arm``, ``value``, maybe ``metric`` and others;
- of runs: a row for each run, with a column for each metric and others for arm, workload and the like;
- wide: a row for each run, with a column for each arm.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose

from runoff.imports import status
from runoff.imports.formats.separated import Table, parse, recognise
from runoff.imports.roles import ALL, NAMES, find_keys
from runoff.imports.values import File, FoundMetric, Number, Reading, Role
from runoff.results import Direction
from runoff.separated import is_number
from runoff.units import is_known

__all__ = ["read", "recognise"]

LONG = "a table with a row for each number"
OF_RUNS = "a table with a row for each run"
WIDE = "a table with a column for each arm"
COLUMN = "column"
"""Key of a wide table's numbers."""
VALUE = "value"
"""Name of a metric that has none."""
_RUN = re.compile(
    r"(?:(?:run|iter|iteration|rep|repeat|repetition|trial|round|attempt)(?: ?(?:id|no|nr|number|index|#))?|#|)"
)
"""What a column is called that numbers the runs."""
_UNIT = re.compile(r"[\s_]*[(\[](?P<bracketed>[^)\]]+)[)\]]$|_(?P<tail>[^_]+)$")
_CELL = re.compile(r"(?P<number>[+-]?\d[\d.eE+-]*)\s?(?P<unit>[^\d\s.,+-]\S*)")
_JOINT = ("run", "status")
"""Roles that several columns can have by their headers."""
_FEWEST = 3
"""Rows from which on a column can be seen to count."""
_BEGINS = (0.0, 1.0, 2.0)
"""With what whole numbers of an axis begin."""
_SMALLEST_RATIO = 1.5
"""By what sizes on an axis grow at least."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table stand for."""

    roles: Mapping[str, tuple[str, ...]]
    """Headers by role."""
    free: tuple[str, ...]
    """Headers without a role."""

    def find(self, role: str) -> str | None:
        """Return the header of a role that has one."""
        return self.roles[role][0] if role in self.roles else None


def read(file: File, wanted: Mapping[str, str]) -> Reading:
    """Return its numbers; ``wanted`` are the headers that the user names, by role. Raises UsageError."""
    return read_table(parse(file), wanted, file)


def read_table(table: Table, wanted: Mapping[str, str], file: File) -> Reading:
    """Return the numbers of a table of this file. Raises UsageError."""
    columns = _assign(table, wanted, file)
    if "value" in columns.roles:
        return _read_long(table, columns, file)
    if "metrics" in columns.roles or "arm" in columns.roles:
        return _read_runs(table, columns, file)
    return _read_wide(table, columns, wanted, file)


def _assign(table: Table, wanted: Mapping[str, str], file: File) -> Columns:
    """Return what the columns stand for: by the user's word, else by their headers. Raises UsageError."""
    roles = {role: find_keys(role, wanted, table.header, file) for role in wanted}
    given = {header for headers in roles.values() for header in headers}
    for header in table.header:
        role = None if header in given else _guess_role(header)
        if role is not None and role not in wanted and (role in _JOINT or role not in roles):
            roles[role] = (*roles.get(role, ()), header)
    taken = {header for headers in roles.values() for header in headers}
    return Columns(roles, tuple(header for header in table.header if header not in taken))


def _guess_role(header: str) -> str | None:
    name = status.normalise(header)
    if name in NAMES and name not in ("ignore", "arms", "metrics"):
        return name
    if name in status.HEADERS:
        return "status"
    joined = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", header)
    return "run" if _RUN.fullmatch(status.normalise(joined)) else None


def _read_long(table: Table, columns: Columns, file: File) -> Reading:
    value, metric, unit, side = (columns.find(role) for role in ("value", "metric", "unit", "direction"))
    metrics: dict[str, FoundMetric] = {}
    numbers = []
    for cells, where in _list_rows(table):
        name = cells[metric] if metric else VALUE
        written = cells[unit] if unit else ""
        text, own = _split_unit(cells[value or ""])
        direction = _read_direction(cells[side] if side else "", file, where)
        found = FoundMetric(name, written or own or (_find_unit(value or "")), direction)
        if not name and text:
            raise file.refuse(f"{where} has no name of a metric ({metric} is empty)")
        if name:
            known = metrics.setdefault(name, found)
            if direction and known.direction and known.direction != direction:
                raise file.refuse(
                    f"{where} says that {direction} is better of {name}, and a line before it {known.direction}"
                )
        numbers.append(Number(name, text, _keep(cells, columns), where, unit=found.unit))
    return Reading(LONG, numbers, list(metrics.values()), roles=_keep_roles(columns))


def _read_runs(table: Table, columns: Columns, file: File) -> Reading:
    named = columns.roles.get("metrics", (ALL,))
    names = _find_metrics(table, columns, file) if ALL in named else list(named)
    metrics = {name: FoundMetric(name, _find_unit(name)) for name in names}
    columns = Columns(columns.roles, tuple(name for name in columns.free if name not in metrics))
    has_run = "run" in columns.roles
    numbers = []
    for cells, where in _list_rows(table):
        keys = _keep(cells, columns)
        for name in names:
            text, unit = _split_unit(cells[name])
            run = None if has_run else where
            numbers.append(Number(name, text, keys, f"{where}, column {name!r},", run, unit or metrics[name].unit))
    return Reading(OF_RUNS, numbers, list(metrics.values()), roles=_keep_roles(columns))


def _read_wide(table: Table, columns: Columns, wanted: Mapping[str, str], file: File) -> Reading:
    arms = columns.roles.get("arms", columns.free)
    if "arms" not in columns.roles:
        _refuse_text(table, arms, file)
        if not wanted:
            _refuse_counter(table, arms, file)
    else:
        columns = Columns(columns.roles, tuple(name for name in columns.free if name not in arms))
    has_run = "run" in columns.roles
    kept = Columns(columns.roles, () if "arms" not in columns.roles else columns.free)
    numbers = []
    for cells, where in _list_rows(table):
        keys = _keep(cells, kept)
        for arm in arms:
            text, unit = _split_unit(cells[arm])
            run = None if has_run else where
            numbers.append(Number(VALUE, text, {**keys, COLUMN: arm}, f"{where}, column {arm!r},", run, unit or None))
    units = dict.fromkeys(number.unit for number in numbers if number.unit)
    metric = FoundMetric(VALUE, next(iter(units), ""))
    return Reading(WIDE, numbers, [metric], case=COLUMN, cases="arms", roles=_keep_roles(columns))


def _list_rows(table: Table) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the fields of each row by header, and where it is."""
    for row, line in zip(table.rows, table.lines, strict=True):
        yield dict(zip(table.header, row, strict=True)), f"line {line}"


_KEPT: tuple[Role, ...] = ("arm", "workload", "load", "run", "block", "machine", "status", "reason", "ignore")


def _keep(cells: Mapping[str, str], columns: Columns) -> dict[str, str]:
    """Return the fields that say what a number is."""
    headers = (*(header for role in _KEPT for header in columns.roles.get(role, ())), *columns.free)
    return {header: cells[header] for header in headers}


def _keep_roles(columns: Columns) -> dict[Role, tuple[str, ...]]:
    return {role: columns.roles[role] for role in _KEPT if role in columns.roles}


def _read_direction(text: str, file: File, where: str) -> Direction | None:
    if text in ("lower", "higher", "none", ""):
        return text or None  # type: ignore[return-value]
    raise file.refuse(f"{where} has the direction {text!r}: write lower, higher or none")


def _find_unit(header: str) -> str:
    """Return the unit in a header such as ``Max_Latency_us`` or ``speed (MB/s)``; empty if there is none."""
    match = _UNIT.search(header)
    if match is None:
        return ""
    return match["bracketed"] or (match["tail"] if is_known(match["tail"]) and len(match["tail"]) > 1 else "")


def _split_unit(text: str) -> tuple[str, str]:
    """Return the number and the unit of a field such as ``3.2 ms``."""
    match = _CELL.fullmatch(text)
    if match is None or not is_known(match["unit"]) or not is_number(match["number"]):
        return text, ""
    return match["number"], match["unit"]


def _find_metrics(table: Table, columns: Columns, file: File) -> list[str]:
    """Return the columns of numbers that are measured. Raises UsageError if there is none.

    Not measured are columns with one value in each arm, and whole numbers of which each arm has the same few values,
    as numbers of clients or threads are.
    """
    names = [name for name in columns.free if _is_of_numbers(table.columns[name])]
    arms = _group_rows(table, columns.roles.get("arm", ()))
    found = [name for name in names if not _is_setting([[table.columns[name][row] for row in rows] for rows in arms])]
    if not found:
        raise file.refuse(f"it has no column of numbers to compare; there are: {', '.join(table.header)}")
    return found


def _is_of_numbers(column: Sequence[str]) -> bool:
    cells = [_split_unit(cell)[0] for cell in column if cell]
    return bool(cells) and all(map(is_number, cells))


def _group_rows(table: Table, headers: Sequence[str]) -> list[list[int]]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, (cells, _) in enumerate(_list_rows(table)):
        groups.setdefault(tuple(cells[header] for header in headers), []).append(number)
    return list(groups.values())


def _is_setting(arms: Sequence[Sequence[str]]) -> bool:
    """Return whether a column says how the runs of each arm were made, and not what they gave."""
    if all(len(cells) == 1 for cells in arms):
        return False
    sets = [set(cells) for cells in arms]
    if all(len(each) == 1 for each in sets):
        return True
    is_whole = all(cell.lstrip("-").isdecimal() for each in sets for cell in each)
    is_repeated = all(len(cells) > len(each) for cells, each in zip(arms, sets, strict=True))
    return is_whole and is_repeated and len(arms) > 1 and all(each == sets[0] for each in sets)


def _refuse_text(table: Table, names: Sequence[str], file: File) -> None:
    """Raise UsageError for columns that are not numbers, with the words that say what they are."""
    texts = [name for name in names if not _begins_like_numbers(table.columns[name])]
    if not texts:
        return
    shown = next((cell for cell in table.columns[texts[0]] if cell), "")
    numbers = [name for name in names if name not in texts]
    way = f"--columns arm={texts[0]}" + (
        f",value={numbers[0]}" if len(numbers) == 1 else ",metrics=*" if numbers else ""
    )
    raise file.refuse(
        f"its column {texts[0]!r} has {shown[:40]!r}, which is not a number: a table without a column arm has one of "
        f"numbers for each arm; say what its columns are, as in {way}"
    )


def _begins_like_numbers(column: Sequence[str]) -> bool:
    first = next((cell for cell in column if cell), "0")
    return first.lstrip("+-.")[:1].isdigit()


def _refuse_counter(table: Table, names: Sequence[str], file: File) -> None:
    """Raise UsageError if the first column counts: it is then something else than an arm."""
    column = table.columns[names[0]] if names else []
    if len(names) > 1 and _counts(column):
        raise file.refuse(
            f"its first column, {names[0]!r}, counts {', '.join(column[:_FEWEST])}, ..., as no arm does: say what "
            f"it is by --columns run={names[0]}, workload={names[0]}, ignore={names[0]} or arms={'+'.join(names)}"
        )


def _counts(column: Sequence[str]) -> bool:
    """Return whether numbers grow from row to row as those of an axis do: 1, 2, 3, or 4, 8, 16, or 0.5, 1, 1.5."""
    if len(column) < _FEWEST or not all(map(is_number, column)):
        return False
    values = [float(cell) for cell in column]
    if not all(before < after for before, after in pairwise(values)):
        return False
    is_whole = all(value.is_integer() for value in values)
    return (is_whole and values[0] in _BEGINS) or _has_equal_steps(values) or _has_equal_ratios(values)


def _has_equal_steps(values: Sequence[float]) -> bool:
    steps = [after - before for before, after in pairwise(values)]
    return values[0] in (0.0, steps[0]) and all(isclose(step, steps[0], rel_tol=1e-9) for step in steps)


def _has_equal_ratios(values: Sequence[float]) -> bool:
    if values[0] <= 0:
        return False
    ratios = [after / before for before, after in pairwise(values)]
    return ratios[0] >= _SMALLEST_RATIO and all(isclose(ratio, ratios[0], rel_tol=1e-9) for ratio in ratios)
