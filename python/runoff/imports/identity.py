"""What each number is: of which arm, workload, machine, run or block, and whether it counts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runoff.errors import UsageError
from runoff.imports import status
from runoff.imports.files import Source
from runoff.imports.roles import resolve
from runoff.imports.values import Cases, File, Number, Reading, Role
from runoff.results import Direction

_FEWEST = 3
"""Different numbers that are hardly equal by chance."""
FILE = "file"
"""The key of a file's name, where the files are not the arms."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says about the numbers."""

    units: Mapping[str, str] = field(default_factory=dict)
    """By metric; the empty name stands for all."""
    better: Mapping[str, Direction] = field(default_factory=dict)
    """By metric; the empty name stands for all."""
    cases: Cases | None = None
    """What the cases of a file are; None means what they are in its format."""
    baseline: str = ""
    pattern: str = ""
    """A regular expression that finds the numbers of any text; empty where the files are of a format."""
    thousands: str = ""
    """With a pattern: what stands between each three digits."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Keys by role, as `runoff.imports.roles.parse_roles` returns them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A number with its place."""

    source: int
    """Number of its file."""
    number: Number
    arm: str
    workload: str
    """What the file calls it; empty if it does not."""
    load: str
    """What ran beside it; empty if the file does not say that."""
    keys: Mapping[str, str]
    """What else stands beside it, and is of no role."""
    run: str | None
    block: str | None
    machine: str
    why_void: str
    """Why it does not count; empty if it does."""


@dataclass(frozen=True, slots=True)
class RoledFile:
    """A file with what its keys stand for."""

    source: Source
    reading: Reading
    roles: Mapping[Role, tuple[str, ...]]
    keys: Mapping[str, str]
    """What is said of all its numbers, besides what the file itself says."""


def assign_roles(sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes) -> list[RoledFile]:
    """Return each file with the roles of its keys. Raises UsageError."""
    cases = _find_cases(sources, readings, wishes)
    names_differ = len({source.arm for source in sources}) > 1
    files = []
    for source, reading in zip(sources, readings, strict=True):
        keys = {FILE: source.arm} if names_differ else {}
        roles = resolve(reading, wishes.roles, source.file, list(keys))
        if wishes.cases == "workloads" and "arm" not in wishes.roles:
            roles.pop("arm", None)
        mapped = {key for each in roles.values() for key in each}
        if reading.case and reading.case not in mapped:
            role: Role = "arm" if cases == "arms" and "arm" not in roles else "workload"
            roles[role] = (*roles.get(role, ()), reading.case) if role == "workload" else (reading.case,)
        if "arm" not in roles:
            keys = {}
        files.append(RoledFile(source, reading, roles, keys))
    if not all("arm" in file.roles for file in files):
        _refuse_same_names(sources, readings)
    return files


def _find_cases(sources: Sequence[Source], readings: Sequence[Reading], wishes: Wishes) -> Cases:
    """Return what cases are: what is compared in one file, or else the same workload in each of them."""
    if wishes.cases is not None:
        return wishes.cases
    several = len({source.arm for source in sources}) > 1 or any(source.has_name for source in sources)
    are_arms = all(reading.cases == "arms" for reading in readings)
    return "arms" if are_arms and not (several and _share_cases(readings)) else "workloads"


def _share_cases(readings: Sequence[Reading]) -> bool:
    """Return whether some case is in all of several files."""
    cases = [{number.keys.get(reading.case, "") for number in reading.numbers} for reading in readings]
    return len(cases) > 1 and bool(set.intersection(*cases))


def _refuse_same_names(sources: Sequence[Source], readings: Sequence[Reading]) -> None:
    """Raise UsageError where two files would be one arm though nobody said so."""
    seen: dict[str, Source] = {}
    for source, reading in zip(sources, readings, strict=True):
        other = seen.setdefault(source.arm, source)
        if other.word != source.word and not source.has_name and not reading.is_one_run:
            raise UsageError(
                f"{other.file.name} and {source.file.name} would both be the arm {source.arm}: give them names, as in "
                f"base={other.file.name}"
            )


def list_entries(files: Sequence[RoledFile]) -> Iterator[Entry]:
    """Yield every number with its place. Raises UsageError."""
    for position, file in enumerate(files):
        mapped = {key for each in file.roles.values() for key in each}
        for number in file.reading.numbers:
            keys = {**number.keys, **file.keys}

            def read(role: Role, keys: Mapping[str, str] = keys, file: RoledFile = file) -> str | None:
                return _join({key: keys.get(key, "") for key in file.roles[role]}) if role in file.roles else None

            arm = read("arm")
            if arm == "":
                raise file.source.file.refuse(f"{number.where} has no name of an arm ({file.roles['arm'][0]} is empty)")
            named = file.source.arm if file.source.has_name and arm is not None else ""
            run = [each for each in (number.run, read("run")) if each is not None]
            yield Entry(
                source=position,
                number=number,
                arm=arm or file.source.arm,
                workload=_name_workload(file, keys) or named,
                load=read("load") or "",
                keys={key: text for key, text in keys.items() if key not in mapped},
                run=", ".join(run) if run else None,
                block=read("block"),
                machine=read("machine") or file.source.machine,
                why_void=number.why_void or _find_void(keys, file.roles, file.source.file, number.where),
            )


def _name_workload(file: RoledFile, keys: Mapping[str, str]) -> str:
    """Return the name of what was measured, with the other keys that say it behind it: ``sort:n=10``."""
    case = file.reading.case
    others = [key for key in file.roles.get("workload", ()) if key != case]
    if case not in file.roles.get("workload", ()):
        return _join({key: keys.get(key, "") for key in others})
    return name_with(keys.get(case, ""), {key: keys.get(key, "") for key in others})


def name_with(name: str, texts: Mapping[str, str]) -> str:
    """Return a workload's name with what tells it from others of the name."""
    assignments = ",".join(f"{key}={text}" for key, text in texts.items() if text)
    return f"{name}:{assignments}" if name and assignments else name or assignments


def _join(texts: Mapping[str, str]) -> str:
    """Return one name for the texts of several keys."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ",".join(f"{key}={text}" for key, text in texts.items() if text)


def _find_void(keys: Mapping[str, str], roles: Mapping[Role, tuple[str, ...]], file: File, where: str) -> str:
    """Return why a number does not count; empty if it does. Raises UsageError where that cannot be told."""
    for key in roles.get("status", ()):
        why = status.find_void(key, keys.get(key, ""))
        if why is None:
            raise file.refuse(
                f"{where} has {keys.get(key, '')!r} as {key}, which does not say whether the run counts: write "
                f"{status.KNOWN}, or add --columns ignore={key}"
            )
        if why:
            reasons = [keys[each] for each in roles.get("reason", ()) if keys.get(each)]
            return reasons[0] if reasons else why
    return ""


def refuse_equal_columns(files: Sequence[RoledFile], entries: Sequence[Entry]) -> None:
    """Raise UsageError where a case has the same numbers in each of several files, as a column of sizes has."""
    wide = [file for file in files if file.reading.cases == "arms" and "arm" not in file.roles]
    if not wide:
        return
    case = wide[0].reading.case
    columns: dict[str, dict[str, list[object]]] = {}
    for entry in entries:
        columns.setdefault(entry.number.keys.get(case, ""), {}).setdefault(entry.arm, []).append(entry.number.value)
    for name, arms in columns.items():
        first, *others = arms.values()
        if others and len(set(first)) >= _FEWEST and all(values == first for values in others):
            raise UsageError(
                f"{name} has the same numbers for {' and '.join(list(arms)[:3])}, as no measurement has: say what "
                f"it is by --columns run={name}, workload={name} or ignore={name}"
            )
