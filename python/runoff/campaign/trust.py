"""May root go on with a campaign? What it has kept runs with root's rights, so nobody else may have written it."""

import os
import pwd
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from runoff.errors import UsageError
from runoff.plan.plan import Plan
from runoff.workloads import Work


def require_no_links(directory: Path) -> None:
    """Raise UsageError for the first thing in a campaign's directory that is neither a file nor a directory."""
    for path, about in _entries(directory):
        if stat.S_ISLNK(about.st_mode):
            raise UsageError(f"{path} is a link, and runoff writes through none: put what it leads to in its place")
        if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
            raise UsageError(f"{path} is neither a file nor a directory: remove it")


def require_own(directory: Path, plan: Plan) -> None:
    """Raise UsageError where root would run what somebody else may have written, with a list of what that is."""
    why = find_stranger(directory) if os.geteuid() == 0 else None
    if why is not None:
        would_run = "".join(f"\n  {line}" for line in describe_runs(plan))
        raise UsageError(
            f"{why}, and this would run as root what the campaign {directory} has kept (below): "
            f"read it and add --trust-directory, or resume it as another user{would_run}"
        )


def require_own_place(directory: Path) -> None:
    """Raise UsageError where root would begin a campaign in a directory in which others may write."""
    if os.geteuid() == 0 and directory.is_dir() and (why := _find_objection(directory, directory.stat())) is not None:
        raise UsageError(f"{why}, who could redirect what root writes there: choose another --out")


def find_stranger(directory: Path) -> str | None:
    """Return who else than root may have written in a campaign's directory, as the beginning of a sentence.

    Who called sudo counts as root. None where nobody else may. Raises UsageError where it cannot be looked at.
    """
    try:
        place = directory.resolve(strict=True)
        above = [(path, path.stat()) for path in (place, *place.parents)]
        for path, about in above:
            if (why := _find_objection(path, about)) is not None:
                return why
        for path, about in _entries(place):
            if (why := _find_objection(path, about)) is not None:
                return why
    except OSError as error:
        raise UsageError(f"cannot look at {error.filename or directory}: {error.strerror}") from None
    return None


def describe_runs(plan: Plan) -> Iterator[str]:
    """Yield a line for each command, program, object and file that a campaign would run or load."""
    for arm in plan.arms:
        if arm.scheduler["kind"] == "program":
            yield f"arm {arm.label}: {shlex.join(arm.scheduler['argv'])}"
        elif arm.object is not None:
            yield f"arm {arm.label}: the object {arm.object.name}, sha256 {arm.object.sha256}"
    works: dict[str, Work] = {work.label: work for work in (*plan.works, *plan.loads) if work is not None}
    for file in plan.own_files:
        yield f"the file {file.key}, sha256 {file.sha256}"
    for label, work in works.items():
        message = work.message(None)
        setup = work.definition.setup if plan.settings.on == "lab" else []
        for argv in (*setup, *message["prepare"], message["command"]):
            if argv:
                yield f"{label}: {shlex.join(argv)}"


def _find_objection(path: Path, about: os.stat_result) -> str | None:
    if about.st_uid not in _ids("SUDO_UID"):
        return f"{path} belongs to {_name(about.st_uid)}"
    by_group = about.st_mode & stat.S_IWGRP and about.st_gid not in _ids("SUDO_GID")
    # In a directory such as /tmp only the owner of a file may put another in its place.
    sticky = stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISVTX
    if (by_group or about.st_mode & stat.S_IWOTH) and not sticky:
        return f"{path} can be written by others"
    return None


def _ids(variable: str) -> set[int]:
    """Return the ids of root and of the user who called sudo."""
    called = os.environ.get(variable, "")
    return {0, int(called)} if called.isdecimal() else {0}


def _name(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (user {uid})"
    except KeyError:
        return f"user {uid}"


def _entries(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield all below it, with what each itself is. Raises OSError."""

    def fail(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(directory, onerror=fail):
        for name in (*folders, *files):
            path = Path(folder, name)
            yield path, path.lstat()
