"""What was taken for what, in sentences: formats, arms, workloads, runs, and what became of every number."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from runoff.imports.identity import RoledFile
from runoff.imports.samples import ImportedSample

_MOST_NAMED = 6


def describe(
    files: Sequence[RoledFile],
    samples: Sequence[ImportedSample],
    keys: Sequence[str],
    kept: int,
    void: Mapping[str, int],
    *,
    is_paired: bool,
) -> tuple[str, ...]:
    """Return the sentences; ``keys`` are those without a role that tell workloads apart."""
    formats = Counter(file.reading.format for file in files)
    left_out: Counter[str] = Counter()
    for file in files:
        left_out.update(file.reading.left_out)
    arms = dict.fromkeys(sample.arm for sample in samples)
    works = dict.fromkeys(" beside ".join(filter(None, (each.workload, each.load))) for each in samples)
    metrics = dict.fromkeys(metric.title or metric.name for file in files for metric in file.reading.metrics)
    return (
        f"read as {', '.join(_count_files(name, count) for name, count in formats.items())}: "
        f"{_name('arm', arms)} (by {_name_keys(files, 'arm') or 'file'}); "
        f"{_name('workload', works)}{_describe_keys(_name_keys(files, 'workload'), keys)}; "
        f"{_name('metric', metrics)}; {_describe_runs(samples, files, is_paired=is_paired)}",
        _describe_numbers(kept, void, +left_out),
    )


def _count_files(name: str, count: int) -> str:
    return name if count == 1 else f"{name} ({count} files)"


def _name(noun: str, names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        return f"{len(names)} {noun}s {shown}, ..."
    return f"{noun}{'s' if len(names) > 1 else ''} {shown}"


def _name_keys(files: Sequence[RoledFile], role: str) -> str:
    keys = dict.fromkeys(key for file in files for name, own in file.roles.items() if name == role for key in own)
    return _list_keys(keys)


def _list_keys(keys: Iterable[str]) -> str:
    return ", ".join(keys)


def _describe_keys(mapped: str, found: Sequence[str]) -> str:
    varying = f"{_list_keys(found)}, which var{'ies' if len(found) == 1 else 'y'}" if found else ""
    text = " and ".join(filter(None, (mapped, varying)))
    return f" (by {text})" if text else ""


def _describe_runs(samples: Sequence[ImportedSample], files: Sequence[RoledFile], *, is_paired: bool) -> str:
    counts = Counter((sample.arm, sample.workload, sample.load) for sample in samples).values()
    unit = "block" if is_paired else "run"
    number = f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
    keys = _name_keys(files, unit)
    machines = {sample.machine for sample in samples}
    where = f" on {len(machines)} machines" if len(machines) > 1 else ""
    return f"{number} {unit}{'s' if max(counts) > 1 else ''} of each{where}" + (f" (by {keys})" if keys else "")


def _describe_numbers(kept: int, void: Mapping[str, int], left_out: Mapping[str, int]) -> str:
    total = kept + sum(void.values()) + sum(left_out.values())
    parts = [f"{kept:,} of {total:,} numbers are kept" if kept < total else f"all {total:,} numbers are kept"]
    if void:
        parts.append(f"{sum(void.values()):,} do not count ({_count_reasons(void)})")
    if left_out:
        parts.append(f"{sum(left_out.values()):,} are left out ({_count_reasons(left_out)})")
    return "; ".join(parts)


def _count_reasons(reasons: Mapping[str, int]) -> str:
    shown = list(reasons.items())[:_MOST_NAMED]
    return ", ".join(f"{count:,} x {reason}" for reason, count in shown) + (
        ", ..." if len(reasons) > len(shown) else ""
    )
