"""A directory of campaigns that one command takes, and goes on with when it is given again."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runoff.analysis.build import build_report
from runoff.campaign.conduct import CampaignResult, conduct, resume
from runoff.campaign.journal.database import FILE
from runoff.campaign.journal.trust import make_own_place
from runoff.campaign.loop.execution import Execution
from runoff.campaign.loop.observer import Observer
from runoff.errors import MissingError, UsageError
from runoff.files import hold_same, write_whole
from runoff.plan.settings import Settings
from runoff.reading import read_own
from runoff.report.files import write_files


def remember(file: Path, question: Mapping[str, Any], noun: str, *, trusted: bool) -> None:
    """Write what is asked into ``file``, so that nothing else goes on beside it.

    Not ``trusted``: root makes no directory where others may write. Raises UsageError if something else is asked there
    already or is in the directory, and MissingError where it cannot be written.
    """
    asked = json.dumps(question, indent=1, sort_keys=True) + "\n"
    directory = file.parent
    make_own_place(directory, trusted=trusted)
    try:
        if file.exists():
            if read_own(file).decode() != asked:
                raise UsageError(f"{directory} is of another {noun} (see {file}): choose another --out")
            return
        if any(directory.iterdir()):
            raise UsageError(f"{directory} is not empty, and no {noun}: choose another --out")
        write_whole(file, asked.encode())
    except OSError as error:
        raise MissingError(f"cannot use {file}: {error.strerror}; choose another --out") from None


def take_campaign(settings: Settings, place: Path, observer: Observer, execution: Execution) -> CampaignResult:
    """Take what is missing of a campaign, and write its page. Raises RunoffError."""
    if (place / FILE).exists():
        conducted = resume(place, observer, execution)
    else:
        conducted = conduct(settings, place, observer, execution)
    with hold_same(place, conducted.identity) as held:
        write_files(build_report(conducted.results), held)
    return conducted
