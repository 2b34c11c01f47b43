"""The campaign that a command is for when none is named: the newest below ``results``."""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from runoff.cli.completions import complete_campaign
from runoff.cli.output import echo
from runoff.errors import UsageError

RESULTS = Path("results")
"""Where campaigns are unless ``--out`` says otherwise."""


def choose_new_directory() -> Path:
    """Return the directory of a campaign that has none: named by the moment."""
    return RESULTS / time.strftime("%Y%m%d-%H%M%S")


def find_newest(place: Path) -> Path | None:
    """Return the campaign directly below ``place`` that was written last; None if there is none."""
    from runoff.campaign.journal.database import FILE

    try:
        journals = [(path.stat().st_mtime_ns, path) for path in place.glob(f"*/{FILE}")]
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror}; name a campaign's directory") from None
    return max(journals)[1].parent if journals else None


def directory_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its argument ``directory``, which may be left out."""

    @functools.wraps(function)
    def call(*args: Any, directory: Path | None, **values: Any) -> Any:
        return function(*args, directory=directory or take_newest(), **values)

    add_argument: Callable[[Callable[..., Any]], Callable[..., Any]] = click.argument(
        "directory",
        type=click.Path(path_type=Path),
        required=False,
        metavar="[DIRECTORY]",
        shell_complete=complete_campaign,
    )
    return add_argument(call)


def take_newest() -> Path:
    """Return the newest campaign below ``results``, and say which it is. Raises UsageError without one."""
    found = find_newest(RESULTS)
    if found is None:
        raise UsageError(f"no campaign is below {RESULTS}: name its directory")
    echo(f"the newest campaign: {found}", err=True)
    return found
