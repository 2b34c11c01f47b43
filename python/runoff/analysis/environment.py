"""The fingerprint as rows that can be compared between arms."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runoff.analysis.values import EnvironmentRow

PER_ARM = "arms"
"""The fingerprint's table whose keys are arm labels."""


def list_environment_rows(fingerprint: Mapping[str, Any], arms: Sequence[str]) -> tuple[EnvironmentRow, ...]:
    """Return differences first, then the rest, each in the fingerprint's order."""
    shared = [
        EnvironmentRow(key, (text,))
        for name, value in fingerprint.items()
        if name != PER_ARM
        for key, text in _flatten(name, value)
    ]
    per_arm = {arm: dict(_flatten("", fingerprint.get(PER_ARM, {}).get(arm, {}))) for arm in arms}
    keys = dict.fromkeys(key for facts in per_arm.values() for key in facts)
    rows = [EnvironmentRow(key, tuple(per_arm[arm].get(key, "-") for arm in arms)) for key in keys]
    return (
        *(row for row in rows if row.differs),
        *(EnvironmentRow(r.key, r.values[:1]) for r in rows if not r.differs),
        *shared,
    )


_BEST_KNOWN = ("release", "preempt", "cpu_model", "cpus_online", "memory")


def summarise_facts(fingerprint: Mapping[str, Any], table: str) -> str:
    """Return one table's facts on one line, those people look for first; empty if the fingerprint has no such table."""
    facts = dict(_flatten("", fingerprint.get(table, {})))
    chosen = [key for key in _BEST_KNOWN if key in facts] or list(facts)
    return ", ".join(f"{key} {facts[key]}".strip() for key in chosen)


SEVERAL = "several: "
"""How a list of kernels begins."""


def describe_kernels(fingerprint: Mapping[str, Any]) -> str:
    """Return the kernel on one line; of a campaign with arms on several, all by their full names."""
    names = list(fingerprint.get("kernels", {}))
    return f"{SEVERAL}{', '.join(names)}" if len(names) > 1 else summarise_facts(fingerprint, "kernel")


def _flatten(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(f"{name}.{key}" if name else str(key), inner)
    elif isinstance(value, (list, tuple)):
        yield name, ", ".join(str(item) for item in value)
    else:
        yield name, str(value)
