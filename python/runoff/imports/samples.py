"""Samples of numbers: those of one run, or of one block, belong together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runoff.errors import UsageError
from runoff.imports.identity import Entry, RoledFile
from runoff.imports.metrics import JoinedMetrics
from runoff.imports.values import parse_number

EMPTY = "no value"
"""Why a number does not count for which the file has an empty field."""


@dataclass(frozen=True, slots=True)
class ImportedSample:
    """One run."""

    arm: str
    workload: str
    load: str
    block: int
    """Number of the block, or of the arm's run."""
    machine: str
    """Empty where nothing is said of machines."""
    metrics: Mapping[str, float]
    """Empty if it is void."""
    why_void: str = ""
    """Empty if it is valid."""

    @property
    def valid(self) -> bool:
        """Whether it counts."""
        return not self.why_void


@dataclass(frozen=True, slots=True)
class Sorted:
    """All samples, and what became of the numbers."""

    samples: tuple[ImportedSample, ...]
    kept: int
    """Numbers in valid samples."""
    void: Mapping[str, int]
    """Numbers that do not count, by the reason."""


_Group = tuple[str, str, str, tuple[object, ...]]
"""Arm, workload, load, and the machine with the block or the run."""


def make_samples(
    files: Sequence[RoledFile], entries: Sequence[Entry], metrics: JoinedMetrics, *, is_paired: bool
) -> Sorted:
    """Return the samples, those of a block or run one after the other.

    Raises UsageError for two values of one metric in one place.
    """
    groups = _group(files, entries)
    samples: list[ImportedSample] = []
    void: Counter[str] = Counter()
    blocks = {key: number for number, key in enumerate(dict.fromkeys(key for *_, key in groups))}
    runs: Counter[tuple[str, str, str]] = Counter()
    for (arm, workload, load, key), own in groups.items():
        values, reasons = _read_values(files, own, metrics)
        block = blocks[key] if is_paired else runs[arm, workload, load]
        runs[arm, workload, load] += 1
        why = "" if values else "; ".join(dict.fromkeys(reasons))
        samples.append(ImportedSample(arm, workload, load, block, own[0].machine, values, why))
        void.update(reasons)
    if is_paired:
        samples.sort(key=lambda sample: sample.block)
    return Sorted(tuple(samples), sum(len(sample.metrics) for sample in samples), void)


def _group(files: Sequence[RoledFile], entries: Iterable[Entry]) -> dict[_Group, list[Entry]]:
    counts: Counter[tuple[object, ...]] = Counter()
    places: dict[tuple[_Group, str], Entry] = {}
    groups: dict[_Group, list[Entry]] = {}
    for entry in entries:
        group = (entry.arm, entry.workload, entry.load, (entry.machine, *_find_run(files, entry, counts)))
        first = places.setdefault((group, entry.number.metric), entry)
        if first is not entry:
            raise UsageError(_describe_double(files, first, entry))
        groups.setdefault(group, []).append(entry)
    return groups


def _find_run(files: Sequence[RoledFile], entry: Entry, counts: Counter[tuple[object, ...]]) -> tuple[object, ...]:
    if entry.block is not None:
        return (entry.block,)
    if files[entry.source].reading.is_one_run:
        return (entry.source,)
    if entry.run is not None:
        return (entry.source, entry.run)
    place = (entry.source, entry.machine, entry.arm, entry.workload, entry.load, entry.number.metric)
    counts[place] += 1
    return (entry.source, "" if entry.number.metric else "void", counts[place])


def _describe_double(files: Sequence[RoledFile], first: Entry, second: Entry) -> str:
    names = [files[entry.source].source.file.name for entry in (first, second)]
    where = [f"{name}, {entry.number.where}" for name, entry in zip(names, (first, second), strict=True)]
    on = f" on {second.machine}" if second.machine else ""
    what = f"two values of {second.number.metric or 'no metric'} for {second.arm}, {second.workload}{on}"
    if second.block is not None:
        return f"block {second.block} has {what}, and a block is one run of each: {where[0]}, and {where[1]}"
    if second.run is None:
        return f"one run has {what}: {where[0]}, and {where[1]}"
    run = files[second.source].roles.get("run", ("run",))[0]
    return (
        f"{run} {second.run} has {what}: {where[0]}, and {where[1]}; if each is a run, add --columns ignore={run}, and "
        "if a column tells them apart, workload=HEADER"
    )


def _read_values(
    files: Sequence[RoledFile], entries: Sequence[Entry], metrics: JoinedMetrics
) -> tuple[dict[str, float], list[str]]:
    """Return the values of a sample by metric, and for each number that does not count the reason."""
    values: dict[str, float] = {}
    reasons: list[str] = []
    for entry in entries:
        number = entry.number
        why = entry.why_void or (EMPTY if number.value in ("", None) else "")
        if why:
            reasons.append(why)
        else:
            file = files[entry.source].source.file
            values[number.metric] = metrics.scale(entry, parse_number(number.value, file, number.where))
    return values, reasons
