"""Arms: ``scheduler[:key=value,...][+io=elevator[:key=value,...]][@kernel]``, ``exec:program arguments``."""

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runoff.errors import UsageError
from runoff.plan.elevators import DescribeElevators, Elevator, parse_elevator
from runoff.plan.parameters import check_parameters
from runoff.text import parse_assignments, suggest

Describe = Callable[[], Mapping[str, Any]]
"""Yields the schedulers inside the agent by name, each with its parameters."""


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """A sched_ext object of the user's."""

    name: str
    """Its path as the arm has it."""
    sha256: str


@dataclass(frozen=True, slots=True)
class Arm:
    """One scheduler with its parameters, its elevator, and the kernel it asks for."""

    label: str
    """As the user wrote it: how tables name it."""
    scheduler: Mapping[str, Any]
    """The agent's ``Scheduler`` message."""
    kernel: str | None = None
    elevator: Elevator | None = None
    """None: no disk behind an elevator."""
    object: ObjectFile | None = None
    """None: one that comes with runoff, or none at all."""

    @property
    def needs_sched_ext(self) -> bool:
        return bool(self.scheduler["kind"] != "default")

    @property
    def has_object(self) -> bool:
        """Whether the agent itself loads a sched_ext object for it."""
        return self.scheduler["kind"] in ("builtin", "object")


def parse_arm(
    text: str,
    describe_schedulers: Describe | None,
    describe_elevators: DescribeElevators | None = None,
    kept: Mapping[str, str] | None = None,
) -> Arm:
    """An arm from its text; ``kept`` has the digests of object files by name, if these themselves are not to be read.

    Raises UsageError naming the arm and what would be right.
    """
    label = text.strip()
    if not label:
        raise UsageError("an arm is empty: name a scheduler, e.g. default or bfs:rr_interval_ms=3")
    if label.startswith("exec:"):
        return _parse_program(label, describe_elevators)
    body, kernel = _split_kernel(label)
    body, separator, io = body.partition("+io=")
    elevator = parse_elevator(io, describe_elevators, f"arm {label!r}") if separator else None
    scheduler = _parse_scheduler(body, label, describe_schedulers)
    object = _object(scheduler["path"], label, kept) if scheduler["kind"] == "object" else None
    return Arm(label, scheduler, kernel, elevator, object)


def find_twins(arms: Sequence[Arm], describe_schedulers: Describe | None) -> dict[str, int]:
    """By label, of each arm that is an earlier one again, how many of it there are before.

    They are one thing if scheduler, parameters, kernel and elevator are, whatever they are called, wherever the object
    lies, and whether a parameter's usual value is given or not.
    """
    before: Counter[str] = Counter()
    found = {}
    for arm in arms:
        elevator = arm.elevator and [arm.elevator.name, dict(arm.elevator.parameters)]
        it = json.dumps([_identify_scheduler(arm, describe_schedulers), arm.kernel, elevator], sort_keys=True)
        if before[it]:
            found[arm.label] = before[it]
        before[it] += 1
    return found


def _identify_scheduler(arm: Arm, describe_schedulers: Describe | None) -> dict[str, Any]:
    scheduler = dict(arm.scheduler)
    if arm.object is not None:
        scheduler["path"] = arm.object.sha256
    if scheduler["kind"] == "builtin" and describe_schedulers is not None:
        usual = {each["name"]: str(each["default"]) for each in describe_schedulers()[scheduler["name"]]["parameters"]}
        scheduler["parameters"] = usual | {
            key: _normalise_number(text) for key, text in scheduler["parameters"].items()
        }
    return scheduler


def _normalise_number(text: str) -> str:
    """A whole number as it is described."""
    return str(int(text)) if re.fullmatch("[+-]?[0-9]+", text) else text


def _parse_scheduler(body: str, label: str, describe_schedulers: Describe | None) -> dict[str, Any]:
    name, _, assignments = body.partition(":")
    parameters = parse_assignments(assignments, f"arm {label!r}")
    if name == "default":
        if parameters:
            raise UsageError(f"arm {label!r}: the kernel's default scheduler has no parameters here")
        return {"kind": "default"}
    if "/" in name or name.endswith(".o"):
        return {"kind": "object", "path": name, "parameters": parameters}
    if describe_schedulers is not None:
        _check_builtin(name, parameters, describe_schedulers(), label)
    return {"kind": "builtin", "name": name, "parameters": parameters}


def _split_kernel(label: str) -> tuple[str, str | None]:
    body, separator, kernel = label.rpartition("@")
    if not separator:
        return label, None
    if not kernel:
        raise UsageError(f"arm {label!r}: a kernel must follow the @, e.g. @debian")
    return body, kernel


def _parse_program(label: str, describe_elevators: DescribeElevators | None) -> Arm:
    try:
        words = shlex.split(label.removeprefix("exec:"))
    except ValueError as error:
        raise UsageError(f"arm {label!r}: {error}") from None
    kernel = None
    if words and words[-1].startswith("@"):
        kernel = words.pop()[1:] or None
    elevator = None
    if words and words[-1].startswith("+io="):
        elevator = parse_elevator(words.pop().removeprefix("+io="), describe_elevators, f"arm {label!r}")
    if not words:
        raise UsageError(f"arm {label!r}: a program must follow, e.g. exec:scx_bpfland")
    return Arm(label, {"kind": "program", "argv": words}, kernel, elevator)


def _object(name: str, label: str, kept: Mapping[str, str] | None) -> ObjectFile:
    if kept is not None:
        if name not in kept:
            raise UsageError(f"arm {label!r}: the object {name} was not kept: begin a new campaign")
        return ObjectFile(name, kept[name])
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"arm {label!r}: there is no object file {name}")
    try:
        with path.open("rb") as file:
            return ObjectFile(name, hashlib.file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise UsageError(f"arm {label!r}: cannot read {name}: {error.strerror}") from None


def _check_builtin(name: str, parameters: Mapping[str, str], known: Mapping[str, Any], label: str) -> None:
    if name not in known:
        raise UsageError(f"arm {label!r}: unknown scheduler {name!r}{suggest(name, ['default', *known])}")
    check_parameters(name, parameters, known[name]["parameters"], f"arm {label!r}")
