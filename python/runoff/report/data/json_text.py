"""How documents for programs are written: JSON, and the digits of computed numbers."""

import json
from typing import Any

from runoff.results import Results
from runoff.text import escape_for_json

DIGITS = 7
"""Significant ones; fewer than numerical libraries agree on, more than data supports."""


def round_significant(value: float) -> float:
    """Return a computed number with the digits that documents have."""
    return float(f"{value:.{DIGITS}g}")


def make_head(schema: str, results: Results) -> dict[str, Any]:
    """Return how every document of a campaign begins: what kind it is, and how the samples were taken."""
    return {
        "schema": schema,
        "version": results.version,
        "engine": results.engine,
        "clock": results.clock,
        "seed": results.seed,
    }


def dump(document: Any, *, indent: int | None = 1) -> str:
    """Return one JSON document, keys in the order given, every character printable.

    Raises ValueError for a number that JSON does not have.
    """
    separators = (",", ":") if indent is None else None
    text = json.dumps(document, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)
    return escape_for_json(text) + "\n"
