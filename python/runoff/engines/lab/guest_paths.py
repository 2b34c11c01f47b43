"""The objects and programs of arms in a guest, and their paths inside."""

from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Any

from runoff.engines.lab.guest import Cargo
from runoff.engines.lab.initramfs import add_libraries
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.plan import Plan


def _object_path(index: int) -> str:
    return f"/objects/{index}.bpf.o"


def translate_scheduler(plan: Plan, arm: Arm) -> Mapping[str, Any]:
    """Return the arm's scheduler with the paths it has inside the guest."""
    if arm.scheduler["kind"] == "object":
        return {**arm.scheduler, "path": _object_path(plan.arms.index(arm))}
    if arm.scheduler["kind"] == "program":
        program, *arguments = arm.scheduler["argv"]
        return {**arm.scheduler, "argv": [_program_path(plan.arms.index(arm), program), *arguments]}
    return arm.scheduler


def _program_path(index: int, program: str) -> str:
    """Return the program's path in the guest. The host's path may be where the guest mounts something, like /tmp."""
    return f"/programs/{index}/{Path(program).name}"


def _host_program(name: str) -> Path:
    found = which(name)
    if found is None:
        raise MissingError(f"the program {name} was not found: install it, or give its path")
    return Path(found).resolve()


def collect_cargo(plan: Plan) -> Cargo:
    """Return the objects and programs of all arms, on their paths in the guest. Raises MissingError."""
    objects = {
        _object_path(index): Path(arm.scheduler["path"])
        for index, arm in enumerate(plan.arms)
        if arm.scheduler["kind"] == "object"
    }
    programs = {
        _program_path(index, arm.scheduler["argv"][0]): _host_program(arm.scheduler["argv"][0])
        for index, arm in enumerate(plan.arms)
        if arm.scheduler["kind"] == "program"
    }
    return Cargo(files=objects, programs=add_libraries(programs))
