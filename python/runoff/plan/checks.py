"""Checks of a plan for contradictions and impossible values, without touching a machine. Each raises UsageError."""

import re
from collections.abc import Sequence
from pathlib import Path

from runoff.engine_kinds import ELEVATORS, ENGINES, WorkKind, list_having, list_setting, list_using
from runoff.errors import UsageError
from runoff.plan.arms import Describe
from runoff.plan.elevators import DescribeElevators
from runoff.plan.option import read_keys
from runoff.plan.plan import Plan
from runoff.plan.settings import DEFAULT_DISK_MODEL, DEFAULT_QUANTUM, LEAST_QUANTUM, MOST_QUANTUM, Settings
from runoff.workloads import Work


def check_keys(settings: Settings) -> None:
    """Refuse what the engine has no use for."""
    for key in read_keys(Settings):
        why = settings.engine.without.get(key.name)
        if why is not None and getattr(settings, key.name) != key.field.get_default(call_default_factory=True):
            raise UsageError(f"{key.option.flag} needs {list_using(key.name)}: {why}")


def check_takes(settings: Settings, works: Sequence[Work]) -> None:
    """Refuse work of a kind that the engine does not take."""
    for work in works:
        kind: WorkKind = "scene" if work.scene else "command"
        if kind not in settings.engine.takes and not work.definition.rehearse:
            able = " or ".join(f"--on {name}" for name, each in ENGINES.items() if kind in each.takes)
            raise UsageError(
                f"{work.label!r} is a {kind}, which the {settings.on} engine does not take: it needs {able}"
            )


def check_elevators(plan: Plan) -> None:
    why = plan.settings.engine.without.get(ELEVATORS)
    if why is not None and plan.has_elevators:
        raise UsageError(f"arms with {ELEVATORS} need {list_using(ELEVATORS)}: {why}")


def check_settings(plan: Plan) -> None:
    """Refuse settings that the engine cannot make."""
    for arm in plan.arms:
        for each in arm.settings:
            if each.scope not in plan.settings.engine.settings:
                raise UsageError(f"arm {arm.label!r}: {each.name} needs {list_setting(each.scope)}")


def check_names(settings: Settings, describe_schedulers: Describe | None) -> None:
    used = [text.strip() for text in settings.arms]
    for name, text in settings.names.items():
        if not name or name != name.strip() or "=" in name:
            raise UsageError(
                f"names: {name!r} is not a name for an arm: a name has a letter, no blanks around it, and no ="
            )
        if name not in used:
            raise UsageError(f"names: {name!r} is not among the arms: add it there, or leave the name out")
        schedulers = ["default", *(describe_schedulers() if describe_schedulers is not None else ())]
        if name in schedulers and text.strip() != name:
            raise UsageError(f"names: {name!r} is itself a scheduler: give {text!r} another name, or none")


def check_clock(settings: Settings) -> None:
    why_not = find_clock_objection(settings)
    is_virtual = settings.clock == "virtual" or settings.engine.clocks == ("virtual",)
    if why_not and is_virtual:
        raise UsageError(why_not)
    if settings.clock not in (None, *settings.engine.clocks):
        raise UsageError(f"the {settings.on} engine has no {settings.clock} clock: leave --clock out")
    if settings.quantum != DEFAULT_QUANTUM and (why_not or settings.clock == "real"):
        raise UsageError("--quantum needs the virtual clock: add --clock virtual, or leave it out")
    if settings.sensitivity is not None:
        _check_sensitivity(settings, why_not)


def _check_sensitivity(settings: Settings, why_not: str) -> None:
    if why_not or settings.clock == "real":
        raise UsageError("--sensitivity quantum needs the virtual clock: add --clock virtual, or leave it out")
    if settings.cpus == 1:
        raise UsageError("--sensitivity quantum needs two or more CPUs: use more --cpus")
    if settings.quantum < 2 * LEAST_QUANTUM or 2 * settings.quantum > MOST_QUANTUM:
        raise UsageError(
            f"--sensitivity quantum takes half and twice of it, and a quantum is {LEAST_QUANTUM} to {MOST_QUANTUM}: "
            f"choose another --quantum than {settings.quantum}"
        )


def find_clock_objection(settings: Settings) -> str:
    """Return why these settings are impossible under the virtual clock, or an empty string."""
    engine = settings.engine
    if "virtual" not in engine.clocks:
        able = " or ".join(f"--on {name}" for name, kind in ENGINES.items() if "virtual" in kind.clocks)
        return f"the virtual clock exists only with {able}: add that, or leave --clock virtual out"
    if settings.warmup:
        return "under the virtual clock every sample begins anew, so nothing can be warmed up"
    if settings.cpus > engine.most_exact_cpus:
        other = ", or --clock real" if "real" in engine.clocks else ""
        return (
            f"the virtual clock is for {engine.most_exact_cpus} CPUs at most, and they share one CPU of this machine: "
            f"use fewer --cpus{other}"
        )
    return ""


def check_this_machine(plan: Plan) -> None:
    """Check what is asked of a machine that is used as it is."""
    if plan.settings.disk_mb is not None and not plan.makes_disks:
        raise UsageError(
            "--disk is the size of disks that runoff makes: on the host for arms with +io=, without --place"
        )
    for work in (*plan.works, *plan.loads):
        if work is not None and work.lab_only is not None:
            able = list_having("has_guests")
            raise UsageError(f"{work.label!r} would change this machine: leave {work.lab_only} out, or use {able}")


def check_boots(plan: Plan) -> None:
    """Raise UsageError unless all arms run on the kernel that runs, or each names a kernel of this machine."""
    for arm in plan.arms if plan.boots else ():
        if arm.kernel is None:
            raise UsageError(f"arm {arm.label!r} names no kernel, and others do: name each one's, as in @host:6.12.5")
        if not re.fullmatch(r"host:\S+", arm.kernel):
            raise UsageError(
                f"arm {arm.label!r}: with --on host a kernel is one of this machine: name it as in @host:6.12.5"
            )
    if plan.boots and plan.settings.until is not None:
        raise UsageError("arms on several kernels of the host need a boot after each few samples: give --blocks")


def check_place(plan: Plan, place: str, describe_elevators: DescribeElevators | None) -> None:
    if not Path(place).is_absolute():
        raise UsageError(f"place {place!r}: give the whole path, from / on")
    if plan.settings.disk_model != DEFAULT_DISK_MODEL:
        raise UsageError("--disk-model is of disks that runoff makes: leave it out, or --place")
    kernels = [entry["name"] for entry in describe_elevators()["kernel"]] if describe_elevators is not None else []
    for arm in plan.arms:
        if kernels and arm.elevator is not None and not arm.elevator.is_the_kernels:
            raise UsageError(
                f"arm {arm.label!r}: {arm.elevator.name} can only have a disk that runoff makes: leave --place out, "
                f"or choose one of the kernel's own: {', '.join(kernels)}"
            )


ARM_TWICE = "; to compare it with itself, name each: -n a={label} -n b={label} (or measure it: runoff noise)"


def refuse_twice(what: str, labels: list[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            way = ARM_TWICE.format(label=label) if what == "arm" else ""
            raise UsageError(f"{what} {label!r} is given twice{way}")
