"""Arms: ``scheduler[:key=value,...][+setting=value...][+io=elevator][@kernel]``; ``runoff.plan.programs`` has those of
programs."""

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runoff.arm_text import split_arm
from runoff.errors import UsageError
from runoff.plan.arm_settings import DescribeSettings, Setting, parse_settings
from runoff.plan.elevators import DescribeElevators, Elevator, parse_elevator
from runoff.plan.parameters import check_parameters
from runoff.plan.programs import COMMAND, parse_command, parse_named
from runoff.text import parse_assignments, suggest
from runoff.workloads import WORKLOADS

DEFAULT_TITLE = "the kernel's own scheduler"
OBJECT_TITLE = "a sched_ext object of the user's"

Describe = Callable[[], Mapping[str, Any]]
"""Yields the schedulers inside the agent by name, each with its parameters."""


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """A sched_ext object file of the user."""

    name: str
    """The path in the arm."""
    sha256: str


@dataclass(frozen=True, slots=True)
class Arm:
    """One scheduler with its parameters, settings of the machine, its elevator, and the kernel it asks for."""

    label: str
    """The arm as the user wrote it; tables use it."""
    scheduler: Mapping[str, Any]
    """The agent's ``Scheduler`` message."""
    kernel: str | None = None
    elevator: Elevator | None = None
    """None means no disk behind an elevator."""
    settings: tuple[Setting, ...] = ()
    """Settings that are made for each of its samples, in this order."""
    object: ObjectFile | None = None
    """None means that the scheduler comes with runoff, or needs no object."""
    about: str = ""
    """What it is, for readers who do not know its name; empty where that is not known."""

    @property
    def of_machine(self) -> tuple[Setting, ...]:
        """The settings of the whole machine, and of its boot."""
        return tuple(each for each in self.settings if each.scope != "work")

    @property
    def command_line(self) -> str:
        """The words that the kernel of a guest is booted with; empty for the usual ones."""
        return next((each.value for each in self.settings if each.scope == "boot"), "")

    @property
    def of_work(self) -> tuple[Setting, ...]:
        """The settings of the workload's processes and their control group."""
        return tuple(each for each in self.settings if each.scope == "work")

    @property
    def needs_sched_ext(self) -> bool:
        return bool(self.scheduler["kind"] != "default")

    @property
    def can_be_ready(self) -> bool:
        """Return whether a guest can be kept with its scheduler made ready for all samples: an object is loaded, a
        program runs and has its scheduler in charge. Settings of the machine are made before a program starts."""
        is_program = self.scheduler["kind"] == "program"
        return self.needs_sched_ext and not (is_program and any(each.scope != "boot" for each in self.of_machine))


def parse_arm(
    text: str,
    describe_schedulers: Describe | None,
    describe_elevators: DescribeElevators | None = None,
    describe_settings: DescribeSettings | None = None,
    stored: Mapping[str, str] | None = None,
    modes: Mapping[str, str] | None = None,
) -> Arm:
    """Return the arm that ``text`` describes. Raises UsageError that names the arm and a correct form.

    ``stored`` has digests of object files by name; with it the files themselves are not read. ``modes`` has the options
    of programs in their modes.
    """
    label = text.strip()
    if not label:
        raise UsageError("an arm is empty: name a scheduler, e.g. default or bfs:rr_interval_ms=3")
    where = f"arm {label!r}"
    if label.startswith(COMMAND):
        scheduler, parts = parse_command(label)
    else:
        parts = split_arm(label)
        named = parse_named(parts.scheduler, label, modes or {})
        scheduler = named or _parse_scheduler(parts.scheduler, label, describe_schedulers)
    if parts.kernel == "":
        raise UsageError(f"{where}: a kernel must follow the @, e.g. @debian")
    elevator = None if parts.elevator is None else parse_elevator(parts.elevator, describe_elevators, where)
    settings = parse_settings(parts.settings, describe_settings, where)
    object_file = _read_object(scheduler["path"], label, stored) if scheduler["kind"] == "object" else None
    about = _describe_arm(label, scheduler, describe_schedulers, settings, elevator)
    return Arm(label, scheduler, parts.kernel, elevator, settings, object_file, about)


def _describe_arm(
    label: str,
    scheduler: Mapping[str, Any],
    describe_schedulers: Describe | None,
    settings: Sequence[Setting],
    elevator: Elevator | None,
) -> str:
    match scheduler["kind"]:
        case "default":
            about = DEFAULT_TITLE
        case "object":
            about = OBJECT_TITLE
        case "program":
            program, *options = scheduler["argv"]
            about = f"the scheduler that {program} attaches"
            if options and not label.startswith(COMMAND):
                about += f" with {shlex.join(options)}"
        case _:
            known = {} if describe_schedulers is None else describe_schedulers()[scheduler["name"]]
            about = known.get("sentence", "")
    parts = [f"with {', '.join(map(str, settings))}"] if settings else []
    if elevator is not None and elevator.about:
        parts.append(f"disk requests by {elevator.name}: {elevator.about}")
    return "; ".join([about.rstrip("."), *parts]) if parts else about


def find_twins(arms: Sequence[Arm], describe_schedulers: Describe | None) -> dict[str, int]:
    """Return for each arm that repeats an earlier one, by label, how many equal ones come before it.

    Two arms are equal if scheduler, parameters, settings, kernel and elevator are. Labels, paths of object files and
    parameters with their default values do not matter.
    """
    before: Counter[str] = Counter()
    found = {}
    for arm in arms:
        elevator = arm.elevator and [arm.elevator.name, dict(arm.elevator.parameters)]
        settings = sorted(map(str, arm.settings))
        parts = [_identify_scheduler(arm, describe_schedulers), settings, arm.kernel, elevator]
        identity = json.dumps(parts, sort_keys=True)
        if before[identity]:
            found[arm.label] = before[identity]
        before[identity] += 1
    return found


def _identify_scheduler(arm: Arm, describe_schedulers: Describe | None) -> dict[str, Any]:
    scheduler = dict(arm.scheduler)
    if arm.object is not None:
        scheduler["path"] = arm.object.sha256
    if scheduler["kind"] == "builtin" and describe_schedulers is not None:
        defaults = {
            each["name"]: str(each["default"]) for each in describe_schedulers()[scheduler["name"]]["parameters"]
        }
        scheduler["parameters"] = defaults | {
            key: _normalise_number(text) for key, text in scheduler["parameters"].items()
        }
    return scheduler


def _normalise_number(text: str) -> str:
    """Return a whole number as the agent writes it; other text stays."""
    return str(int(text)) if re.fullmatch("[+-]?[0-9]+", text) else text


def is_object(name: str) -> bool:
    """Return whether a scheduler's name is the path of an object file."""
    return "/" in name or name.endswith(".o")


def _parse_scheduler(body: str, label: str, describe_schedulers: Describe | None) -> dict[str, Any]:
    name, _, assignments = body.partition(":")
    parameters = parse_assignments(assignments, f"arm {label!r}")
    if name == "default":
        if parameters:
            raise UsageError(
                f"arm {label!r}: the kernel's default scheduler has no parameters; a setting is written with a plus, "
                "as in default+sched.base_slice_ns=20ms (runoff list settings)"
            )
        return {"kind": "default"}
    if is_object(name):
        return {"kind": "object", "path": name, "parameters": parameters}
    if describe_schedulers is not None:
        _check_builtin(name, parameters, describe_schedulers(), label)
    return {"kind": "builtin", "name": name, "parameters": parameters}


def _read_object(name: str, label: str, stored: Mapping[str, str] | None) -> ObjectFile:
    if stored is not None:
        if name not in stored:
            raise UsageError(f"arm {label!r}: the campaign has no copy of the object {name}: begin a new campaign")
        return ObjectFile(name, stored[name])
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
        raise UsageError(f"arm {label!r}: {_explain_unknown(name, ['default', *known])}")
    check_parameters(name, parameters, known[name]["parameters"], f"arm {label!r}")


def _explain_unknown(name: str, known: Sequence[str]) -> str:
    """Return why there is no such scheduler, and what was probably meant."""
    if "," in name:
        return f"each arm is a word of its own: {' '.join(name.split(','))}"
    if name in WORKLOADS.names():
        return f"{name} is a workload, not a scheduler: --work {name}"
    found = f"unknown scheduler {name!r}{suggest(name.lower(), known)}"
    more = (
        f"one of the scx project is an arm as scx_{name}, another program that attaches one as exec:PROGRAM, another "
        "kernel's own as default@KERNEL"
    )
    return found if "did you mean" in found else f"{found}; {more}"
