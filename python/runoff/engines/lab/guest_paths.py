"""What arms and works bring into a guest, and the paths that it has inside."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runoff.engines.lab.guest import Cargo
from runoff.engines.lab.libraries import add_libraries
from runoff.engines.programs.find import find_program
from runoff.errors import UsageError
from runoff.plan.arms import Arm, ObjectFile
from runoff.plan.plan import Plan
from runoff.workloads import Work


def _object_path(index: int, object_file: ObjectFile) -> str:
    """Return the object's path in the guest. Its name is the user's, as libbpf and the agent tell it in errors."""
    return f"/objects/{index}/{Path(object_file.name).name}"


def _file_path(sha256: str) -> str:
    return f"/files/{sha256}"


def translate_scheduler(plan: Plan, arm: Arm) -> Mapping[str, Any]:
    """Return the arm's scheduler with the paths it has inside the guest."""
    if arm.object is not None:
        return {**arm.scheduler, "path": _object_path(plan.arms.index(arm), arm.object)}
    if arm.scheduler["kind"] == "program":
        program, *arguments = arm.scheduler["argv"]
        return {**arm.scheduler, "argv": [_program_path(plan.arms.index(arm), program), *arguments]}
    return arm.scheduler


def _program_path(index: int, program: str) -> str:
    """Return the program's path in the guest. The host's path may be where the guest mounts something, like /tmp."""
    return f"/programs/{index}/{Path(program).name}"


def translate_work(work: Work) -> Work:
    """Return the work with the paths that its files have inside the guest."""
    paths = {each.sha256: Path(_file_path(each.sha256)) for file in work.files for each in file.all}
    return replace(work, files=tuple(file.move(paths) for file in work.files))


def collect_cargo(plan: Plan) -> Cargo:
    """Return the objects and programs of all arms, and the files and modules of all works.

    Raises:
        MissingError: a program or a library is not there.
        UsageError: files are too large for the guest's memory.
    """
    objects = {
        _object_path(index, arm.object): Path(arm.scheduler["path"])
        for index, arm in enumerate(plan.arms)
        if arm.object is not None
    }
    programs = {
        _program_path(index, arm.scheduler["argv"][0]): find_program(arm.scheduler["argv"][0])
        for index, arm in enumerate(plan.arms)
        if arm.scheduler["kind"] == "program"
    }
    files = {_file_path(each.sha256): each.path for file in plan.own_files for each in file.all}
    _require_room(files.values(), plan.settings.memory_mb)
    modules = [module for definition in plan.definitions for module in definition.modules]
    return Cargo(files={**objects, **files}, programs=add_libraries(programs), modules=tuple(dict.fromkeys(modules)))


def _require_room(files: Iterable[Path], memory_mb: int) -> None:
    """Raise UsageError unless memory holds the files twice, in the guest's first file system and beside the work, and
    as much again."""
    size_mb = sum(path.stat().st_size for path in files) >> 20
    if 3 * size_mb > memory_mb:
        raise UsageError(
            f"the files of the workloads have {size_mb} MiB, and the guest's memory {memory_mb} MiB: "
            f"give it --memory {3 * size_mb}"
        )
