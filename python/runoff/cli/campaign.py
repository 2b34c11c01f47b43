"""What the commands that carry out campaigns share: progress, and the report at the end."""

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runoff.campaign.ending import Ending
from runoff.campaign.objects import with_kept_objects
from runoff.cli.output import echo, write
from runoff.errors import MissingError, RunoffError, UsageError
from runoff.files import write_whole
from runoff.plan import rerun, stopping
from runoff.plan.make import make_plan
from runoff.plan.plan import Plan
from runoff.plan.settings import Settings
from runoff.results import Clock

if TYPE_CHECKING:
    from runoff.analysis.values import Report
    from runoff.campaign.journal import Journal
    from runoff.campaign.looks import Rule


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
    """Check the plan, then start a campaign with it; ``show`` prints its report. Returns the exit code."""
    from runoff.campaign import directory
    from runoff.engines.agent import describe_elevators, describe_schedulers
    from runoff.engines.requirements import require_patterns

    if plan_only:
        plan = make_plan(settings, describe_schedulers, describe_elevators)
        require_patterns(plan)
        checked = plan.settings
        # What depends on the machine stays open: it may be another one.
        open_keys = {"clock"} if settings.clock is None else set()
        if settings.on == "host" and "cpus" not in settings.model_fields_set:
            open_keys.add("cpus")
        write(rerun.plan_text(checked, open_keys))
        return 0
    plan = make_plan(settings, describe_schedulers, describe_elevators, _usual_clock)
    require_patterns(plan)
    place = out or Path("results") / time.strftime("%Y%m%d-%H%M%S")
    made = not place.exists()
    with directory.create(place, plan) as journal:
        try:
            return carry_out(plan, journal, as_json=as_json, jobs=jobs, keep_going=keep_going, show=show)
        except (UsageError, MissingError):
            if made and not journal.done():
                journal.discard()
            raise


def _usual_clock(plan: Plan) -> Clock:
    from runoff.engines.choose import usual_clock

    return usual_clock(plan, lambda text: echo(text, err=True))


def carry_out(
    plan: Plan,
    journal: "Journal",
    *,
    as_json: bool,
    jobs: int,
    keep_going: bool = False,
    show: "Callable[[Report], None] | None" = None,
) -> int:
    """Take what is missing, write the page and the logs, print the table. Returns the exit code."""
    from runoff.campaign.directory import read_results

    ending = _take(plan, journal, jobs, keep_going)
    if ending is Ending.COMPLETE:
        ending = _repeat(plan, journal.directory, jobs, keep_going)
    journal.require_in_place()
    if not journal.done():
        raise RunoffError(f"stopped before the first sample; go on with: runoff resume {journal.directory}")

    from runoff.analysis import build
    from runoff.decide.noise import told
    from runoff.report.data import document, runs
    from runoff.report.html import page as html

    report = build.build_report(told(read_results(journal.directory)))
    page = journal.directory / "report.html"
    pages = {page.name: html.render(report), "runs.tsv": runs.log(report), "runs.csv": runs.wide(report)}
    for name, text in pages.items():
        write_page(journal.directory / name, text)
    if as_json:
        write(document.render(report))
    else:
        (show or print_text)(report)
    note = f"page: {page}"
    if ending is not Ending.COMPLETE:
        more = " --keep-going" if ending is Ending.HOPELESS else ""
        way_on = f"go on with: runoff resume {journal.directory}{more}"
        note = f"stopped early, every finished sample is kept; {way_on}\n{note}"
    echo(note, err=as_json)
    return exit_code(report)


def _take(plan: Plan, journal: "Journal", jobs: int, keep_going: bool) -> Ending:
    """What is missing."""
    from runoff.campaign.run import run
    from runoff.cli.progress import observer
    from runoff.engines.choose import choose

    kept = replace(plan, arms=with_kept_objects(plan.arms, journal.directory))
    with observer(kept, len(journal.done())) as watching:
        return run(
            kept, journal, choose(kept, journal.directory), watching, jobs, _rule(kept, journal), keep_going=keep_going
        )


def _rule(plan: Plan, journal: "Journal") -> "Rule | None":
    if plan.settings.until is None:
        return None
    from runoff.decide.stopping import Until

    return Until(journal.directory, stopping.most(plan.settings))


def _repeat(plan: Plan, where: Path, jobs: int, keep_going: bool) -> Ending:
    """The same with what the plan is to be sensitive to."""
    from runoff.campaign import directory, repeats

    for name, settings in repeats.settings_of(plan.settings).items():
        place = repeats.place(where, name)
        if repeats.exists(where, name):
            again, journal = directory.open_again(place, trusted=True)
        else:
            again = replace(plan, settings=settings, arms=with_kept_objects(plan.arms, where))
            journal = directory.create(place, again)
        with journal:
            echo(f"once more with {name}, in {place}", err=True)
            ending = _take(again, journal, jobs, keep_going)
            if ending is not Ending.COMPLETE:
                return ending
    return Ending.COMPLETE


def write_page(path: Path, text: str) -> None:
    """Raises MissingError."""
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise MissingError(
            f"cannot write {path}: {error.strerror}; every sample is kept: runoff report {path.parent}"
        ) from None


def print_text(report: "Report") -> None:
    """The table, as wide as the terminal, in colour where it is one; elsewhere 80 columns."""
    from runoff.report.terminal import screen

    colour = screen.wants_colour(sys.stdout)
    echo(screen.render(report, shutil.get_terminal_size((80, 24)).columns, colour), nl=False, styled=colour)


def exit_code(report: "Report") -> int:
    """2 when some arm has no valid sample at all, or when what was to be decided is not."""
    judged = [table for table in report.tables if table.metric.headline]
    empty = any(not any(point.arm == arm for point in table.points) for table in judged for arm in table.arms)
    ended = report.results.ended
    undecided = ended is not None and not ended.decided
    return 2 if empty or undecided or not judged else 0
