"""What the commands that carry out campaigns share: progress, and the report at the end."""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runoff.errors import MissingError, RunoffError, UsageError
from runoff.plan import Plan, Settings, make_plan

if TYPE_CHECKING:
    from runoff.campaign.journal import Journal
    from runoff.report.model import Report


def begin(
    settings: Settings,
    out: Path | None,
    *,
    plan_only: bool,
    as_json: bool,
    jobs: int,
    show: "Callable[[Report], None] | None" = None,
) -> int:
    """Check the plan, then start a campaign with it; ``show`` prints its report. Returns the exit code."""
    from runoff.campaign import directory
    from runoff.engines.agent import describe_elevators, describe_schedulers

    plan = make_plan(settings, describe_schedulers, describe_elevators)
    if plan_only:
        click.echo(directory.plan_text(settings), nl=False)
        return 0
    place = out or Path("results") / time.strftime("%Y%m%d-%H%M%S")
    made = not place.exists()
    with directory.create(place, plan) as journal:
        try:
            return carry_out(plan, journal, as_json=as_json, jobs=jobs, show=show)
        except (UsageError, MissingError):
            if made and not journal.done():
                shutil.rmtree(place)
            raise


def carry_out(
    plan: Plan,
    journal: "Journal",
    *,
    as_json: bool,
    jobs: int,
    show: "Callable[[Report], None] | None" = None,
) -> int:
    """Take what is missing, write the page and the logs, print the table. Returns the exit code."""
    from runoff.campaign.directory import read_results
    from runoff.campaign.run import run
    from runoff.cli.progress import observer
    from runoff.engines.choose import choose

    with observer(plan, len(journal.done())) as watching:
        complete = run(plan, journal, choose(plan, journal.directory), watching, jobs)
    if not journal.done():
        raise RunoffError(f"stopped before the first sample; go on with: runoff resume {journal.directory}")

    from runoff.report import html, json, model, runs

    report = model.build(read_results(journal.directory))
    page = journal.directory / "report.html"
    page.write_text(html.render(report), encoding="utf-8")
    (journal.directory / "runs.tsv").write_text(runs.log(report), encoding="utf-8")
    (journal.directory / "runs.csv").write_text(runs.wide(report), encoding="utf-8")
    if as_json:
        sys.stdout.write(json.render(report))
    else:
        (show or print_text)(report)
    note = f"page: {page}"
    if not complete:
        note = f"stopped early, every finished sample is kept; go on with: runoff resume {journal.directory}\n{note}"
    click.echo(note, err=as_json)
    return exit_code(report)


def print_text(report: "Report") -> None:
    """The table, as wide as the terminal, in colour where it is one."""
    import os

    from runoff.report import text

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    click.echo(text.render(report, shutil.get_terminal_size((100, 24)).columns, colour), nl=False, color=colour)


def exit_code(report: "Report") -> int:
    """2 when some arm has no valid sample at all, so that nothing can be said about it."""
    judged = [table for table in report.tables if table.metric.headline]
    empty = any(not any(point.arm == arm for point in table.points) for table in judged for arm in table.arms)
    return 2 if empty or not judged else 0
