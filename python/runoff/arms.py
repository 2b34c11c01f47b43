"""Arms: ``scheduler[:key=value,...][@kernel]``, ``./object.bpf.o``, ``exec:program arguments``."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runoff.errors import UsageError
from runoff.text import closest, parse_assignments

Describe = Callable[[], Mapping[str, Any]]
"""Yields the schedulers inside the agent by name, each with its parameters."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One scheduler with its parameters, and the kernel it asks for."""

    label: str
    """As the user wrote it: how tables name it."""
    scheduler: Mapping[str, Any]
    """The agent's ``Scheduler`` message."""
    kernel: str | None = None

    @property
    def needs_sched_ext(self) -> bool:
        return bool(self.scheduler["kind"] != "default")


def parse_arm(text: str, describe_schedulers: Describe | None) -> Arm:
    """Raises UsageError naming the arm and what would be right."""
    label = text.strip()
    if not label:
        raise UsageError("an arm is empty: name a scheduler, e.g. default or bfs:rr_interval_ms=3")
    if label.startswith("exec:"):
        return _parse_program(label)
    body, kernel = _split_kernel(label)
    if "+io=" in body:
        raise UsageError(f"arm {label!r}: I/O schedulers are not available as arms in this version")
    name, _, assignments = body.partition(":")
    parameters = parse_assignments(assignments, f"arm {label!r}")
    if name == "default":
        if parameters:
            raise UsageError(f"arm {label!r}: the kernel's default scheduler has no parameters here")
        return Arm(label, {"kind": "default"}, kernel)
    if "/" in name or name.endswith(".o"):
        return Arm(label, _object(name, parameters, label), kernel)
    if describe_schedulers is not None:
        _check_builtin(name, parameters, describe_schedulers(), label)
    return Arm(label, {"kind": "builtin", "name": name, "parameters": parameters}, kernel)


def _split_kernel(label: str) -> tuple[str, str | None]:
    body, separator, kernel = label.rpartition("@")
    if not separator:
        return label, None
    if not kernel:
        raise UsageError(f"arm {label!r}: a kernel must follow the @, e.g. @debian")
    return body, kernel


def _parse_program(label: str) -> Arm:
    try:
        words = shlex.split(label.removeprefix("exec:"))
    except ValueError as error:
        raise UsageError(f"arm {label!r}: {error}") from None
    kernel = None
    if words and words[-1].startswith("@"):
        kernel = words.pop()[1:] or None
    if not words:
        raise UsageError(f"arm {label!r}: a program must follow, e.g. exec:scx_bpfland")
    return Arm(label, {"kind": "program", "argv": words}, kernel)


def _object(name: str, parameters: dict[str, str], label: str) -> dict[str, Any]:
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"arm {label!r}: there is no object file {name}")
    return {"kind": "object", "path": str(path.resolve()), "parameters": parameters}


def _check_builtin(name: str, parameters: Mapping[str, str], known: Mapping[str, Any], label: str) -> None:
    if name not in known:
        raise UsageError(f"arm {label!r}: unknown scheduler {name!r}{closest(name, ['default', *known])}")
    check_parameters(name, parameters, known[name]["parameters"], f"arm {label!r}")


def check_parameters(
    scheduler: str, given: Mapping[str, str], described: Sequence[Mapping[str, Any]], where: str
) -> None:
    """Are these values that the scheduler takes? ``where`` starts the error. Raises UsageError."""
    table = {parameter["name"]: parameter for parameter in described}
    for key, value in given.items():
        if key not in table:
            raise UsageError(f"{where}: {scheduler} has no parameter {key!r}{closest(key, list(table))}")
        _check_value(key, value, table[key], where)


def _check_value(key: str, value: str, parameter: Mapping[str, Any], where: str) -> None:
    if parameter.get("choices"):
        if value not in parameter["choices"]:
            raise UsageError(f'{where}: {key}="{value}" is none of {", ".join(parameter["choices"])}')
        return
    try:
        number = int(value)
    except ValueError:
        raise UsageError(f"{where}: {key} must be a whole number, not {value!r}") from None
    if not parameter["min"] <= number <= parameter["max"]:
        raise UsageError(f"{where}: {key}={number} is out of its range {allowed(parameter)}")


def allowed(parameter: Mapping[str, Any]) -> str:
    """The values that a scheduler's parameter may have: ``1..1000 ms``, ``pb or eb``."""
    if parameter.get("choices"):
        return " or ".join(parameter["choices"])
    unit = "" if parameter["unit"] == "1" else parameter["unit"]
    return f"{parameter['min']}..{parameter['max']} {unit}".rstrip()
