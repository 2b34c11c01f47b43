"""The results that a command is about: of one campaign, or of several that are laid beside each other."""

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from runoff.cli.named_directories import name_directories
from runoff.cli.newest import take_newest
from runoff.errors import UsageError

if TYPE_CHECKING:
    from runoff.results import Results


def read_campaigns(command: str, directories: tuple[str, ...], control: str | None) -> tuple[Path, "Results"]:
    """Return the first directory, without any the newest below ``results``, and the results of all.

    Each of several directories is an arm, the first of them the baseline. Raises UsageError.
    """
    from runoff.campaign.directory import read_results

    if len(directories) < 2:
        if control is not None:
            raise UsageError("--control is for several campaigns: give their directories")
        directory = Path(directories[0]) if directories else take_newest()
        return directory, read_results(directory)
    from runoff.analysis.beside import lay_beside

    places = name_directories(directories, "campaign")
    rerun = join(["runoff", command, *directories, *(["--control", control] if control else [])])
    campaigns = {name: read_results(place) for name, place in places.items()}
    return next(iter(places.values())), lay_beside(campaigns, control, rerun)
