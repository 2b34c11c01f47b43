"""The agent's events: lines of JSON, checked strictly against the schema that the agent prints."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

MOST_SHOWN = 200
"""Most characters of a mistake that a message shows."""


class NotAnEvent(Exception):
    """A line that the agent must not send; the message names the place in it."""


class Reader:
    """Makes events of lines."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """``schema`` has one branch for each type of event."""
        import jsonschema

        # JSON Schema calls 3.0 an integer; the agent's integers have no point.
        integers = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer)
        extend: Callable[..., Any] = jsonschema.validators.extend
        strict = extend(jsonschema.Draft202012Validator, type_checker=integers)
        branches = {branch["properties"]["type"]["const"]: branch for branch in schema["oneOf"]}
        types = {"type": "object", "required": ["type"], "properties": {"type": {"enum": list(branches)}}}
        self._any = strict(types)
        self._by_type = {name: strict({**branch, "$defs": schema["$defs"]}) for name, branch in branches.items()}

    def read(self, line: bytes) -> dict[str, Any]:
        """Return one event. Raises NotAnEvent."""
        try:
            event = json.loads(line, parse_constant=_refuse, parse_float=_parse_finite)
        except (ValueError, RecursionError):
            raise NotAnEvent(f"not an event: {line[:MOST_SHOWN]!r}") from None
        self._check(self._any, event)
        self._check(self._by_type[event["type"]], event)
        return dict(event)

    def _check(self, validator: Any, event: Any) -> None:
        from jsonschema.exceptions import best_match

        error = best_match(validator.iter_errors(event))
        if error is not None:
            what = error.message[:MOST_SHOWN]
            raise NotAnEvent(f"an event that the schema does not know: {error.json_path}: {what}")


def _is_integer(_checker: Any, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)
    return number


def _refuse(text: str) -> NoReturn:
    raise NotAnEvent(f"not an event: {text} is not a number")
