"""What the commands that carry out campaigns share: progress, and the report at the end."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from runoff.campaign.loop.execution import Ending
from runoff.cli.newest import choose_new_directory
from runoff.cli.options import RunOptions
from runoff.cli.output import echo, write
from runoff.errors import INTERRUPTED, RunoffError
from runoff.files import Identity, hold_same
from runoff.plan.settings import Settings

if TYPE_CHECKING:
    from runoff.analysis.values import Report
    from runoff.campaign.conduct import CampaignResult
    from runoff.results import Results


def begin(
    settings: Settings, run: RunOptions, *, plan_only: bool = False, show: "Callable[[Report], None] | None" = None
) -> int:
    """Conduct a campaign, or print its plan; ``show`` prints its report. Returns the exit code."""
    from runoff.campaign.conduct import complete_plan_text, conduct
    from runoff.cli.progress import Progress

    if plan_only:
        write(complete_plan_text(settings))
        return 0
    if len(settings.arms) == 1:
        echo(f"{settings.arms[0]} is the only arm, and nothing is compared; two arms are: default bfs", err=True)
    place = run.out or choose_new_directory()
    with notify_of_failure(run.notify, place):
        conducted = conduct(settings, place, Progress(), run.execution)
    return finish(conducted, run, show)


def finish(conducted: "CampaignResult", run: RunOptions, show: "Callable[[Report], None] | None" = None) -> int:
    """Write the page and the logs, print the report. Returns the exit code."""
    from runoff.report.words.sentences import render_verdict

    if run.execution.reboot is not None and conducted.next_kernel:
        with notify_of_failure(run.notify, conducted.directory):
            return _restart(conducted)
    report, page = write_report(conducted.results, conducted.directory, conducted.identity)
    if show is not None and not run.as_json:
        show(report)
    else:
        print_report(report, conducted.directory, as_json=run.as_json, verbose=run.verbose)
    print_way_on(conducted, page, err=run.as_json)
    code = INTERRUPTED if conducted.ending is Ending.STOPPED else choose_exit_code(report)
    notify(run.notify, conducted.directory, code, " ".join(render_verdict(report)))
    return code


def _restart(conducted: "CampaignResult") -> int:
    """Boot the kernel of the next samples. Raises RunoffError if that is refused."""
    from runoff.campaign.loop.reboots import put_back_on_failure
    from runoff.reboot import unit

    echo(
        f"booting {conducted.next_kernel} to go on with {conducted.directory}; after the boot: "
        f"journalctl -fu {unit.NAME}, and to end it: runoff restore",
        err=True,
    )
    with put_back_on_failure(conducted.directory):
        try:
            unit.restart_machine()
        except RunoffError as error:
            sentence = f"this machine does not boot: {error}; when it may, go on"
            raise RunoffError(sentence, hint=("resume", conducted.directory, "--reboot")) from None
    return 0


def notify(command: str | None, directory: Path | None, code: int, message: str) -> None:
    """Run the user's ``command``, if there is one, with the result in its environment."""
    if command is None:
        return
    result = {"RUNOFF_DIRECTORY": str(directory or ""), "RUNOFF_EXIT_CODE": str(code), "RUNOFF_MESSAGE": message}
    done = subprocess.run(["sh", "-c", command], env={**os.environ, **result}, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        echo(f"the command of --notify ended with code {done.returncode}: {command}", err=True)


@contextmanager
def notify_of_failure(command: str | None, directory: Path) -> Iterator[None]:
    """Run the user's ``command`` if the block fails, with the reason in its environment."""
    try:
        yield
    except RunoffError as error:
        notify(command, directory, error.exit_code, error.describe())
        raise


def conclude(results: "Results", directory: Path, *, as_json: bool, verbose: bool) -> int:
    """Write the page of a campaign that is complete, print the report. Returns the exit code."""
    report, page = write_report(results, directory)
    print_report(report, directory, as_json=as_json, verbose=verbose)
    echo(f"page: {page}", err=as_json)
    return choose_exit_code(report)


def write_report(results: "Results", directory: Path, identity: Identity | None = None) -> "tuple[Report, Path]":
    """Write the page and the logs into the campaign. Returns the report, and where its page is.

    Raises MissingError where ``directory`` is not the one of this ``identity`` any more.
    """
    from runoff.decide.noise import build_report_with_noise
    from runoff.report.files import write_files

    report = build_report_with_noise(results)
    with hold_same(directory, identity) as held:
        return report, write_files(report, held)


def print_report(report: "Report", directory: Path, *, as_json: bool, verbose: bool) -> None:
    """Print the report as JSON or as text."""
    from runoff.report.data import document

    if as_json:
        write(document.render(report))
    else:
        print_text(report, directory=directory, verbose=verbose)


def print_way_on(conducted: "CampaignResult", page: Path, *, err: bool) -> None:
    """Print where the page is, and how to continue a campaign that was stopped."""
    if conducted.ending is not Ending.COMPLETE:
        more = " --keep-going" if conducted.ending is Ending.HOPELESS else ""
        boot = f"boot the kernel {conducted.next_kernel}, then" if conducted.next_kernel else ""
        way_on = f"{boot or 'go on with'}: runoff resume {conducted.directory}{more}"
        echo(f"stopped early, every finished sample is kept; {way_on}", err=err)
    echo(f"page: {page}", err=err)


def print_text(report: "Report", *, directory: Path, verbose: bool) -> None:
    """Print the report and what to do next: as wide as the terminal and in colour, elsewhere 80 columns."""
    from runoff.decide.next_blocks import list_next_blocks
    from runoff.report.terminal import screen
    from runoff.report.words.next_steps import list_next_steps

    colour = screen.wants_colour(sys.stdout)
    size = shutil.get_terminal_size((80, 24))
    steps = tuple(list_next_steps(list(list_next_blocks(report)), directory))
    text = screen.render(report, size.columns, colour, verbose=verbose, height=size.lines, next_steps=steps)
    echo(text, nl=False, styled=colour)


def choose_exit_code(report: "Report") -> int:
    """Return 2 if some arm has no valid sample or the question is not decided, else 0."""
    return 0 if report.is_conclusive else 2
