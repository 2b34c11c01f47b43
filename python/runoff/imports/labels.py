"""Names of workloads in which everything stands that tells one number from another.

A key that nobody has given a role becomes a part of the workload's name where it has several values within one arm, so
that numbers which differ in it are never pooled. A part of a benchmark's name does so where any two numbers differ in
it. What differs between arms alone is told.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from runoff.errors import UsageError
from runoff.imports.identity import FILE, Entry, RoledFile, name_with

UNNAMED = "imported"
"""Name of a workload that has none."""
_MOST_TOLD = 5
"""Keys, or values of a key, that a sentence names."""
_FEWEST = 3
"""Numbers from which on a key with another value in each looks like the number of a run, and not like a workload."""

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Labels:
    """Numbers with the full names of their workloads."""

    entries: tuple[Entry, ...]
    keys: tuple[str, ...]
    """Keys without a role that are a part of the names."""
    notes: tuple[str, ...]
    """What differs between the arms besides."""


def name_workloads(files: Sequence[RoledFile], entries: Sequence[Entry]) -> Labels:
    """Return the numbers with the names of their workloads.

    Raises UsageError where a key has another value in each run, or the arms have no workload in common because of one.
    """
    parts = frozenset(key for file in files for key in file.reading.parts)
    telling = _find_telling(entries, parts)
    labelled = tuple(_label(entry, telling[_get_work(entry)]) for entry in entries)
    keys = tuple(dict.fromkeys(key for each in telling.values() for key in each))
    if keys:
        _refuse_counters(entries, labelled, [key for key in keys if key not in parts])
        _refuse_strangers(entries, labelled, keys)
    return Labels(labelled, keys, tuple(_describe_differences(entries, keys)))


def _label(entry: Entry, keys: Iterable[str]) -> Entry:
    texts = {key: entry.keys.get(key, "") for key in keys}
    if not entry.workload and list(texts) == [FILE]:
        return replace(entry, workload=texts[FILE])
    return replace(entry, workload=name_with(entry.workload, texts) or UNNAMED)


_Work = tuple[str, str]
"""A workload and its load."""


def _get_work(entry: Entry) -> _Work:
    return entry.workload, entry.load


def _find_telling(entries: Sequence[Entry], parts: frozenset[str]) -> dict[_Work, tuple[str, ...]]:
    """Return by workload and load the keys that tell their numbers apart."""
    telling: dict[_Work, tuple[str, ...]] = {}
    for work, own in _group(entries, _get_work).items():
        keys = dict.fromkeys(key for entry in own for key in entry.keys)
        telling[work] = tuple(key for key in keys if _tells_apart(own, key, is_part=key in parts))
    return telling


def _tells_apart(entries: Sequence[Entry], key: str, *, is_part: bool) -> bool:
    groups = _group(entries, lambda entry: ("" if is_part else entry.arm, entry.number.metric))
    return any(len({entry.keys.get(key, "") for entry in group}) > 1 for group in groups.values())


def _group(entries: Iterable[Entry], name: Callable[[Entry], Name]) -> dict[Name, list[Entry]]:
    groups: dict[Name, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(name(entry), []).append(entry)
    return groups


def _refuse_counters(entries: Sequence[Entry], labelled: Sequence[Entry], keys: Sequence[str]) -> None:
    """Raise UsageError where most numbers would be alone in their workload because a key numbers or describes runs."""

    def place(entry: Entry) -> tuple[str, ...]:
        return entry.arm, *_get_work(entry), entry.number.metric

    before, after = Counter(map(place, entries)), Counter(map(place, labelled))
    alone = [
        old
        for old, new in zip(entries, labelled, strict=True)
        if before[place(old)] >= _FEWEST and after[place(new)] == 1
    ]
    if not keys or 2 * len(alone) <= len(entries):
        return
    key = max(keys, key=lambda each: len({entry.keys.get(each, "") for entry in alone}))
    raise UsageError(
        f"{key} has another value in most numbers of {alone[0].arm} ({_list_values(alone, key)}), so it is not known "
        f"which are runs of one workload: add --columns run={key}, ignore={key} or workload={key}"
    )


def _refuse_strangers(entries: Sequence[Entry], labelled: Sequence[Entry], keys: Sequence[str]) -> None:
    """Raise UsageError where an arm has no workload in common with the first because of the keys in their names."""
    names, full = (_group(each, lambda entry: entry.arm) for each in (entries, labelled))
    first, *others = names
    for arm in others:
        if not _list_works(names[first]) & _list_works(names[arm]) or _list_works(full[first]) & _list_works(full[arm]):
            continue
        key = next((key for key in keys if not _list_texts(names[first], key) & _list_texts(names[arm], key)), keys[0])
        raise UsageError(
            f"{first} and {arm} have no workload in common: {key} is {_list_values(names[first], key)} in {first} and "
            f"{_list_values(names[arm], key)} in {arm}; if that makes no difference, add --columns ignore={key}"
        )


def _list_works(entries: Iterable[Entry]) -> set[_Work]:
    return {_get_work(entry) for entry in entries}


def _list_texts(entries: Iterable[Entry], key: str) -> set[str]:
    return {entry.keys.get(key, "") for entry in entries}


def _list_values(entries: Iterable[Entry], key: str) -> str:
    values = list(dict.fromkeys(entry.keys.get(key, "") or "empty" for entry in entries))
    return ", ".join(values[:_MOST_TOLD]) + (", ..." if len(values) > _MOST_TOLD else "")


def _describe_differences(entries: Sequence[Entry], keys: Sequence[str]) -> Iterator[str]:
    """Yield what differs between arms alone, as sentences."""
    found_by: dict[str, dict[str, list[Entry]]] = {}
    for own in _group(entries, _get_work).values():
        arms = _group(own, lambda entry: entry.arm)
        for key in dict.fromkeys(key for entry in own for key in entry.keys):
            if key not in (*keys, FILE) and len({tuple(_list_texts(each, key)) for each in arms.values()}) > 1:
                found_by.setdefault(key, arms)
    for key, arms in list(found_by.items())[:_MOST_TOLD]:
        shown = list(arms.items())[:_MOST_TOLD]
        values = " and ".join(f"{_list_values(own, key)} for {arm}" for arm, own in shown)
        yield f"the arms differ in {key} too: {values}{' ...' if len(arms) > len(shown) else ''}"
    if len(found_by) > _MOST_TOLD:
        yield f"the arms differ in {len(found_by) - _MOST_TOLD} more: {', '.join(list(found_by)[_MOST_TOLD:])}"
