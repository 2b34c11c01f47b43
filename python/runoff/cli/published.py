"""``runoff published``: historic results: shown, their arithmetic checked, run again today."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import cloup

from runoff.campaign.directory import read_results
from runoff.campaign.loop.execution import Ending
from runoff.cli.campaign import notify, print_way_on, write_report
from runoff.cli.groups import Group
from runoff.cli.options import RunOptions, json_option, run_options
from runoff.cli.output import echo, write
from runoff.errors import INTERRUPTED, UsageError
from runoff.plan.settings import read_settings
from runoff.plan.shipped import find_shipped

if TYPE_CHECKING:
    from runoff.campaign.conduct import CampaignResult
    from runoff.plan.settings import Settings


@click.group(cls=Group, epilog="Example: runoff published show zaphod-2004")
def command() -> None:
    """Show, check and repeat the historic results that schedulers were judged by."""


@command.command("list", epilog="Example: runoff published list --json")
@json_option
def list_(as_json: bool) -> None:
    """List the published reports."""
    from runoff.published.documents import list_reports
    from runoff.report.data.json_text import dump

    found = list_reports()
    if as_json:
        write(dump(found, indent=2))
        return
    for entry in found:
        tables = len(entry["tables"])
        echo(f"{entry['name']:<22}{entry['title']} ({entry['author']}, {entry['date']})")
        echo(f"{'':<22}{tables} table{'s' if tables > 1 else ''}; plan {', '.join(entry['plans'])}")


@command.command(
    epilog="\b\nExamples:\n  runoff published show zaphod-2004\n  runoff published show graysky-2012/make --csv"
)
@click.argument("name", metavar="REPORT[/TABLE]")
@click.option("--csv", "as_csv", is_flag=True, help="Print one table as CSV.")
@json_option
def show(name: str, as_csv: bool, as_json: bool) -> None:
    """Print the tables of a report in their original layout.

    A name that begins with a dot or a slash is a directory with a report of your own.
    """
    from runoff.published import documents, layouts
    from runoff.published.catalogue import find
    from runoff.report.data.json_text import dump

    if as_csv and as_json:
        raise UsageError("--csv and --json are two forms: choose one")
    report, table = find(name)
    if as_csv:
        echo(documents.render_csv(report, table), nl=False)
    elif as_json:
        write(dump(documents.make_document(report, table), indent=2))
    else:
        echo(layouts.render_report(report) if table is None else layouts.render_table(report.tables[table]), nl=False)


@command.command(
    short_help="Recompute the numbers of a report.",
    epilog="\b\nExamples:\n  runoff published check graysky-2012\n  runoff published check all",
)
@click.argument("name", metavar="REPORT|all")
@json_option
def check(name: str, as_json: bool) -> int:
    """Recompute what a report derives from its numbers, and check its text.

    Exit code 1 if something does not follow.
    """
    from runoff.published import audit
    from runoff.published.audit import text
    from runoff.published.catalogue import find, list_names
    from runoff.report.data.json_text import dump

    chosen = [find(one) for one in (list_names() if name == "all" else [name])]
    if any(table for _, table in chosen):
        raise UsageError(f"{name}: a report is checked as a whole, so leave the table out")
    reports = [report for report, _ in chosen]
    found = [(report, audit.audit(report)) for report in reports]
    if as_json:
        write(dump([text.make_document(*one) for one in found], indent=2))
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        echo("\n".join(text.render(report, findings, width) for report, findings in found), nl=False)
    return int(any(finding.status is audit.Status.FAILS for _, findings in found for finding in findings))


@command.command(
    cls=cloup.Command,
    short_help="Run the comparisons of a report again.",
    epilog="\b\nExamples:\n  runoff published replicate counters-2009 --quick\n"
    "  runoff published replicate zaphod-2004 --from results/zaphod-2004",
)
@click.argument("name", metavar="REPORT")
@click.option("--quick", is_flag=True, help="Use the small size of the plans.")
@click.option("--plan", "plans", multiple=True, metavar="PLAN", help="Run only this plan; may be repeated.")
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Read this campaign instead of running one; may be repeated, one for each plan.",
)
@click.option("--plan-only", is_flag=True, help="Print the plans with all their defaults, and stop.")
@run_options
def replicate(
    name: str,
    quick: bool,
    plans: tuple[str, ...],
    sources: tuple[Path, ...],
    plan_only: bool,
    run: RunOptions,
) -> int:
    """Run the comparisons of a report again, and print then and now side by side.

    Exit code 2 if nothing can be told.
    """
    from runoff.published import replicate, then_and_now
    from runoff.report.data.json_text import dump

    is_stopped = False
    report, parts = replicate.find_parts(name, plans)
    if sources and (quick or plan_only or run.out):
        raise UsageError("--from reads a campaign, --quick, --plan-only and --out are for running one: choose")
    if sources:
        campaigns = replicate.match_campaigns(parts, [read_results(source) for source in sources])
    else:
        place = run.out or Path("results") / f"{report.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        places = {part.plan: place if len(parts) == 1 else place / part.plan for part in parts}
        settings = {plan: read_settings(find_shipped(plan), quick=quick) for plan in places}
        if plan_only:
            return _print_plans(settings)
        conducted, is_stopped = _run_all(settings, places, run)
        campaigns = {plan: replicate.PresentCampaign(each.results) for plan, each in conducted.items()}
    found = [(part, today := campaigns.get(part.plan), replicate.compare(report, part, today)) for part in parts]
    if run.as_json:
        write(dump(then_and_now.make_document(report, found), indent=2))
    else:
        echo(then_and_now.render(report, found, shutil.get_terminal_size((100, 24)).columns), nl=False)
    has_answers = replicate.has_answers([one for _, _, mine in found for one in mine])
    code = INTERRUPTED if is_stopped else 0 if has_answers else 2
    notify(run.notify, run.out, code, f"{report.name} is replicated")
    return code


def _print_plans(settings: "Mapping[str, Settings]") -> int:
    from runoff.campaign.conduct import complete_plan_text

    for plan, values in settings.items():
        echo(f"# {plan}")
        write(complete_plan_text(values))
    return 0


def _run_all(
    settings: "Mapping[str, Settings]", places: Mapping[str, Path], run: RunOptions
) -> tuple[dict[str, "CampaignResult"], bool]:
    """Return the campaigns by plan, and whether the user stopped one: those behind it are not begun."""
    done: dict[str, CampaignResult] = {}
    for plan, values in settings.items():
        done[plan] = _run(values, places[plan], run)
        if done[plan].ending is Ending.STOPPED:
            if left := [each for each in settings if each not in done]:
                echo(f"not begun: {', '.join(left)}; --plan runs one", err=True)
            return done, True
    return done, False


def _run(settings: "Settings", place: Path, run: RunOptions) -> "CampaignResult":
    """Return a campaign, whose own report is in its page: standard output is for then and now."""
    from runoff.campaign.conduct import conduct
    from runoff.cli.progress import Progress

    conducted = conduct(settings, place, Progress(), run.execution)
    _, page = write_report(conducted.results, conducted.directory)
    print_way_on(conducted, page, err=True)
    return conducted
