"""May root use a directory of campaigns? What it has kept runs with root's rights, so nobody else may write there."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from runoff.errors import MissingError, UsageError
from runoff.files import make_directories
from runoff.ownership import find_other_writer, find_other_writer_inside, list_entries
from runoff.plan.plan import Plan
from runoff.workloads import Work


def require_no_links(directory: Path) -> None:
    """Raise UsageError for the first thing in a campaign's directory that is neither a file nor a directory."""
    try:
        for path, about in list_entries(directory):
            if stat.S_ISLNK(about.st_mode):
                raise UsageError(f"{path} is a link, and runoff writes through none: put what it leads to in its place")
            if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
                raise UsageError(f"{path} is neither a file nor a directory: remove it")
    except OSError as error:
        raise _make_unreadable_error(directory, error) from None


def require_own(directory: Path, plan: Plan) -> None:
    """Raise UsageError where root would run what somebody else may have written, with a list of what that is."""
    why = find_stranger(directory) if os.geteuid() == 0 else None
    if why is not None:
        would_run = "".join(f"\n  {line}" for line in describe_runs(plan))
        raise UsageError(
            f"{why}, and this would run as root what the campaign {directory} has kept (below): "
            f"read it and add --trust-directory, or resume it as another user{would_run}"
        )


def make_own_place(directory: Path, *, trusted: bool = False) -> None:
    """Make ``directory``, and what is missing above it, for something new.

    Not ``trusted``: root makes none where others may write or could put something else in its place. Raises UsageError
    or MissingError.
    """
    _require_own_place(directory, trusted=trusted)
    try:
        make_directories(directory)
    except OSError as error:
        raise MissingError(f"cannot use the directory {directory}: {error.strerror}; choose another --out") from None
    # Somebody may have made a part of it at the same moment.
    _require_own_place(directory, trusted=trusted)


def find_stranger(directory: Path) -> str | None:
    """Return who else than root may have written in a campaign's directory, as the beginning of a sentence.

    Who called sudo counts as root. None where nobody else may. Raises UsageError where it cannot be looked at.
    """
    try:
        return find_other_writer(directory) or find_other_writer_inside(directory.resolve(strict=True))
    except OSError as error:
        raise _make_unreadable_error(directory, error) from None


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
        setup = work.definition.setup if plan.settings.engine.has_guests else []
        for argv in (*setup, *message["prepare"], message["command"]):
            if argv:
                yield f"{label}: {shlex.join(argv)}"


def _require_own_place(directory: Path, *, trusted: bool) -> None:
    try:
        why = find_other_writer(directory) if os.geteuid() == 0 and not trusted else None
    except OSError as error:
        raise _make_unreadable_error(directory, error) from None
    if why is not None:
        raise UsageError(
            f"{why}, who could redirect what root writes in {directory}: choose another --out, or add --trust-directory"
        )


def _make_unreadable_error(directory: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot look at {error.filename or directory}: {error.strerror}")
