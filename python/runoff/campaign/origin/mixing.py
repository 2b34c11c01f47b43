"""What the parts of a campaign must have in common, and what is said of the rest."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from runoff.campaign.journal.records import Part, Row
from runoff.engines.boots import read_running
from runoff.errors import UsageError

IN_CHARGE = {
    "scheduler": "scheduler",
    "object_sha256": "object",
    "program_sha256": "program",
    "settings": "set of settings",
}
"""What is in charge of an arm, by what is known of it."""

_MOST_KEYS = 3
"""Most keys of a table that are named where it changed."""

Facts = Mapping[str, str]


def find_same_kernel(parts: Sequence[Part]) -> list[Part]:
    """Return those that were taken on the kernel that runs."""
    return [part for part in parts if name_kernel(part) == read_running()]


def name_kernel(part: Part) -> str:
    """Return the release of the kernel on which a part was taken."""
    return str(part.tables.get("kernel", {}).get("release", ""))


def refuse_to_mix(earlier: Sequence[Part], now: Part, unmixable: Iterable[str]) -> None:
    """Raise UsageError if ``now`` has another object, program or table of those that are ``unmixable``."""
    for part in earlier:
        for table in unmixable:
            was, is_now = (dict(_leaves(each.tables.get(table, {}))) for each in (part, now))
            _refuse(table.removesuffix("s"), was, is_now)
        for label, was in part.arms.items():
            for key, noun in IN_CHARGE.items():
                both = ({"it": facts[key]} if facts.get(key) else {} for facts in (was, now.arms.get(label, {})))
                _refuse(f"{noun} of the arm {label!r}", *both)


def _refuse(what: str, was: Facts, is_now: Facts) -> None:
    parts = [
        f"{key} was {_short(was.get(key, 'none'))}, is {_short(is_now.get(key, 'none'))}"
        for key in {**was, **is_now}
        if was.get(key) != is_now.get(key)
    ]
    if parts:
        raise UsageError(
            f"this campaign began with another {what} ({'; '.join(parts)}), and figures of the two do not mix: bring "
            "that back, or begin a new campaign"
        )


def describe_changes(parts: Sequence[Part], rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a sentence for each table that differs between samples, with the blocks that had each value."""
    taken = sorted({row.part for row in rows if row.part < len(parts)})
    names = dict.fromkeys(name for number in taken for name in parts[number].tables)
    sentences = (
        _describe_change(name, {n: parts[n].tables[name] for n in taken if name in parts[n].tables}, rows)
        for name in names
    )
    return tuple(filter(None, sentences))


def _describe_change(name: str, tables: Mapping[int, Mapping[str, Any]], rows: Sequence[Row]) -> str:
    flat = {number: dict(_leaves(table)) for number, table in tables.items()}
    keys = dict.fromkeys(key for facts in flat.values() for key in facts)
    differing = [key for key in keys if len({facts.get(key) for facts in flat.values()}) > 1]
    if not differing:
        return ""
    blocks: dict[tuple[str | None, ...], set[int]] = {}
    for number, facts in flat.items():
        having = tuple(facts.get(key) for key in differing)
        blocks.setdefault(having, set()).update(row.block for row in rows if row.part == number)
    text = "; ".join(
        f"{_describe_facts(differing, having)} in {_describe_blocks(mine)}" for having, mine in blocks.items()
    )
    return f"not all samples were taken with the same {name}: {text}"


def _describe_facts(keys: Sequence[str], values: Sequence[str | None]) -> str:
    named = [f"{key} {_short(value or 'none')}" for key, value in zip(keys, values, strict=True)]
    more = f" and {len(named) - _MOST_KEYS} more" if len(named) > _MOST_KEYS else ""
    return ", ".join(named[:_MOST_KEYS]) + more


def _describe_blocks(blocks: Iterable[int]) -> str:
    """Return e.g. ``blocks 1-4, 6``, counted from one; blocks for warming up have no number."""
    numbers = sorted(block + 1 for block in blocks if block >= 0)
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), key=lambda place: place[1] - place[0])]
    text = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    numbered = [f"block{'s' if len(numbers) > 1 else ''} {text}"] if numbers else []
    return " and ".join([*(["warm-up"] if min(blocks, default=0) < 0 else []), *numbered])


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield all that is in a table and in those inside, by dotted keys."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", str(value)


def _short(value: str) -> str:
    """Return a digest by its beginning."""
    return value[:12] if re.fullmatch(r"[0-9a-f]{40,}", value) else value
