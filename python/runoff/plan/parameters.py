"""Parameters as the agent describes them: a number with a range, or one of several names."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from runoff.errors import UsageError
from runoff.text import suggest


def check_parameters(
    scheduler: str, given: Mapping[str, str], described: Sequence[Mapping[str, Any]], where: str
) -> None:
    """Raise UsageError unless the scheduler takes these values; ``where`` starts the sentence."""
    table = {parameter["name"]: parameter for parameter in described}
    for key, value in given.items():
        if key not in table:
            raise UsageError(f"{where}: {scheduler} has no parameter {key!r}{suggest(key, list(table))}")
        _check_value(key, value, table[key], where)


def _check_value(key: str, value: str, parameter: Mapping[str, Any], where: str) -> None:
    if parameter.get("choices"):
        if value not in parameter["choices"]:
            raise UsageError(f'{where}: {key}="{value}" is none of {", ".join(parameter["choices"])}')
        return
    # As the agent parses it; int() would accept more, such as 1_000.
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", value):
        raise UsageError(f"{where}: {key} must be a whole number, not {value!r}")
    number = int(value)
    if not parameter["min"] <= number <= parameter["max"]:
        raise UsageError(f"{where}: {key}={number} is out of its range {describe_allowed(parameter)}")


def describe_allowed(parameter: Mapping[str, Any]) -> str:
    """Return the values that a scheduler's parameter may have: ``1..1000 ms``, ``pb or eb``."""
    if parameter.get("choices"):
        return " or ".join(parameter["choices"])
    unit = "" if parameter["unit"] == "1" else parameter["unit"]
    return f"{parameter['min']}..{parameter['max']} {unit}".rstrip()
