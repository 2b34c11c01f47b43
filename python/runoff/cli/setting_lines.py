"""The settings that an arm can have, with the values that they have here, as lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runoff.engine_kinds import ENGINES
from runoff.report.words.layout import wrap

_FEW = 12
"""The most words of the kernel that are listed."""


def list_settings() -> list[dict[str, Any]]:
    """Return the agent's description of each, with the engines whose arms can have it."""
    from runoff.engines.questions import describe_settings

    return [_entry(each) for each in describe_settings()]


def _entry(described: Mapping[str, Any]) -> dict[str, Any]:
    engines = [name for name, kind in ENGINES.items() if described["scope"] in kind.settings]
    title = described["sentence"]
    return {"name": described["name"], "title": title, "engines": engines, **described, "parameters": []}


def render_settings(entries: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    """Yield for each what it is, and what it is here."""
    indent = " " * (max((len(entry["name"]) for entry in entries), default=0) + 2)
    for entry in entries:
        first = f"{entry['name'].ljust(len(indent) - 2)}  "
        yield from wrap(f"{entry['title']}; --on {' or '.join(entry['engines'])}", width, first, indent)
        if entry["absent"]:
            why = entry["absent"].partition(": ")[2]
            yield from wrap(f"not here: {why}", width, indent, indent)
        for here in entry["here"]:
            name = "here:" if here["name"] == entry["name"] else here["name"]
            yield from wrap(f"{name} {_describe_value(here)}", width, indent, f"{indent}  ")


def _describe_value(here: Mapping[str, Any]) -> str:
    offered = here["offered"]
    if offered and len(offered) <= _FEW:
        return f"{here['value']} (of {', '.join(offered)})"
    return str(here["value"])
