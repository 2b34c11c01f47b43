"""The fingerprint as rows that can be compared between arms."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runoff.analysis.values import EnvironmentRow

PER_ARM = "arms"
"""The fingerprint's table whose keys are arm labels."""

_PLACES = {"machine": 0, "kernel": 1, "image": 3}
_AMONG_REST = 2


def list_environment_rows(fingerprint: Mapping[str, Any], arms: Sequence[str]) -> tuple[EnvironmentRow, ...]:
    """Return what is known: differences first, then the arms, the machine, its kernel, the rest, and the image."""
    names = sorted((name for name in fingerprint if name != PER_ARM), key=lambda name: _PLACES.get(name, _AMONG_REST))
    shared = [
        EnvironmentRow(key, (text,))
        for name in names
        for key, text in flatten(name, fingerprint[name])
        if _is_known(text)
    ]
    per_arm = {arm: dict(flatten("", fingerprint.get(PER_ARM, {}).get(arm, {}))) for arm in arms}
    keys = dict.fromkeys(key for facts in per_arm.values() for key in facts)
    rows = [EnvironmentRow(key, tuple(per_arm[arm].get(key, "-") for arm in arms)) for key in keys]
    return (
        *(row for row in rows if row.differs),
        *(EnvironmentRow(r.key, r.values[:1]) for r in rows if not r.differs and _is_known(r.values[0])),
        *shared,
    )


def _is_known(text: str) -> bool:
    return text not in ("", "None")


def _count_cpus(listed: str) -> str:
    """Return how many CPUs a list as ``0-3,8`` has."""
    ranges = (part.partition("-") for part in listed.split(","))
    count = sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
    return f"{count} CPU{'s' if count != 1 else ''}"


def _convert_memory(text: str) -> str:
    """Return ``918828 kB`` in larger units."""
    mib = int(text.removesuffix(" kB")) / 1024
    return f"{mib / 1024:.3g} GiB" if mib >= 1024 else f"{mib:.0f} MiB"


_BEST_KNOWN: Mapping[str, Callable[[str], str]] = {
    "release": "Linux {}".format,
    "preempt": "preempt {}".format,
    "cpu_model": str,
    "cpus_online": _count_cpus,
    "memory": _convert_memory,
}
"""Facts that people look for first, and how they are told."""


def summarise_facts(fingerprint: Mapping[str, Any], table: str) -> str:
    """Return one table's best known facts on one line, or all if it has none of these; empty without such a table."""
    facts = dict(flatten("", fingerprint.get(table, {})))
    known = [_tell(name, facts[name]) for name in _BEST_KNOWN if name in facts]
    return ", ".join(known or [f"{name} {value}".strip() for name, value in facts.items()])


def _tell(name: str, value: str) -> str:
    """Return a fact for people; as it was noted if it is not in the usual form."""
    try:
        return _BEST_KNOWN[name](value)
    except ValueError:
        return f"{name} {value}"


SEVERAL = "several: "
"""How a list of kernels begins."""


def describe_kernels(fingerprint: Mapping[str, Any]) -> str:
    """Return the kernel on one line; of a campaign with arms on several, all by their full names."""
    names = list(fingerprint.get("kernels", {}))
    return f"{SEVERAL}{', '.join(names)}" if len(names) > 1 else summarise_facts(fingerprint, "kernel")


def describe_machine(fingerprint: Mapping[str, Any]) -> dict[str, str]:
    """Return ``machine`` and ``kernel``, a line each, of which the fingerprint knows something."""
    facts = {"machine": summarise_facts(fingerprint, "machine"), "kernel": describe_kernels(fingerprint)}
    return {name: text for name, text in facts.items() if text}


def flatten(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the facts of nested tables, by their keys joined with points behind ``name``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flatten(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, (list, tuple)):
        yield name, ", ".join(str(item) for item in value)
    else:
        yield name, str(value)
