"""What the commands that carry out campaigns share: progress, and the report at the end."""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from runoff.campaign.ending import Ending
from runoff.cli.output import echo, write
from runoff.plan.settings import Settings

if TYPE_CHECKING:
    from runoff.analysis.values import Report
    from runoff.campaign.conduct import CampaignResult


def begin(
    settings: Settings,
    out: Path | None,
    *,
    plan_only: bool,
    as_json: bool,
    jobs: int,
    keep_going: bool = False,
    show: "Callable[[Report], None] | None" = None,
) -> int:
    """Conduct a campaign, or print its plan; ``show`` prints its report. Returns the exit code."""
    from runoff.campaign.conduct import complete_plan_text, conduct
    from runoff.cli.progress import Progress

    if plan_only:
        write(complete_plan_text(settings))
        return 0
    place = out or Path("results") / time.strftime("%Y%m%d-%H%M%S")
    return finish(conduct(settings, place, Progress(), jobs=jobs, keep_going=keep_going), as_json=as_json, show=show)


def finish(conducted: "CampaignResult", *, as_json: bool, show: "Callable[[Report], None] | None" = None) -> int:
    """Write the page and the logs, print the report. Returns the exit code."""
    from runoff.report.data import document

    report, page = write_report(conducted)
    if as_json:
        write(document.render(report))
    else:
        (show or print_text)(report)
    print_way_on(conducted, page, err=as_json)
    return choose_exit_code(report)


def write_report(conducted: "CampaignResult") -> "tuple[Report, Path]":
    """Write the page and the logs into the campaign. Returns the report, and where its page is."""
    from runoff.decide.noise import build_report_with_noise
    from runoff.report.files import write_files

    report = build_report_with_noise(conducted.results)
    return report, write_files(report, conducted.directory)


def print_way_on(conducted: "CampaignResult", page: Path, *, err: bool) -> None:
    """Print where the page is, and how to continue a campaign that was stopped."""
    if conducted.ending is not Ending.COMPLETE:
        more = " --keep-going" if conducted.ending is Ending.HOPELESS else ""
        way_on = f"go on with: runoff resume {conducted.directory}{more}"
        echo(f"stopped early, every finished sample is kept; {way_on}", err=err)
    echo(f"page: {page}", err=err)


def print_text(report: "Report") -> None:
    """Print the report: as wide as the terminal and in colour, elsewhere 80 columns."""
    from runoff.report.terminal import screen

    colour = screen.wants_colour(sys.stdout)
    echo(screen.render(report, shutil.get_terminal_size((80, 24)).columns, colour), nl=False, styled=colour)


def choose_exit_code(report: "Report") -> int:
    """Return 2 if some arm has no valid sample or the question is not decided, else 0."""
    return 0 if report.is_conclusive else 2
