"""``runoff gate``: a campaign held against a limit, for scripts and continuous integration."""

import os
import shutil
from pathlib import Path

import click

from runoff.cli.beside import read_campaigns
from runoff.cli.completions import complete_campaign
from runoff.cli.options import json_option
from runoff.cli.output import echo, write, write_file
from runoff.cli.types import OUTPUT_FILE, parse_share
from runoff.errors import UsageError

SUMMARY = "GITHUB_STEP_SUMMARY"


@click.command(
    epilog="\b\nExamples:\n  runoff gate results/20260102-120000 --max-regression 2%\n"
    "  runoff gate results/ci --max-regression 5% --junit gate.xml --github-summary\n"
    "  runoff gate base=results/monday changed=results/friday --max-regression 5%"
)
@click.argument("directories", nargs=-1, metavar="[[NAME=]DIRECTORY]...", shell_complete=complete_campaign)
@click.option(
    "--max-regression",
    "limit",
    type=parse_share,
    metavar="SHARE",
    help="The largest change for the worse that passes.  [the plan's margin, else 2%]",
)
@click.option(
    "--control",
    metavar="ARM",
    help="Of several campaigns: the arm that others are taken as multiples of; none compares values as they are.  "
    "[the first arm, if all have it]",
)
@json_option
@click.option("--markdown", is_flag=True, help="Print Markdown for a pull request.")
@click.option("--junit", type=OUTPUT_FILE, metavar="FILE", help="Write JUnit's XML.")
@click.option(
    "--github-summary",
    "summary",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Add the Markdown to a job's summary: to FILE, or to $GITHUB_STEP_SUMMARY.",
)
def command(
    directories: tuple[str, ...],
    limit: float | None,
    control: str | None,
    as_json: bool,
    markdown: bool,
    junit: Path | None,
    summary: str | None,
) -> int:
    """Check whether any headline metric of any arm is worse than the baseline's by more than a limit.

    Without DIRECTORY it is the newest campaign below results. Several campaigns, as of two jobs, are arms: the first
    is the baseline, and an arm that all have is the control. Exit code 0: no, every interval excludes it. 1: yes,
    some interval is beyond the limit, or separated from no change with an estimate beyond it. 2: cannot tell. How
    often that would be wrong is printed.
    """
    from runoff.analysis import build
    from runoff.decide.gate.judge import judge
    from runoff.gate import documents, text
    from runoff.gate import markdown as page
    from runoff.statistics import DEFAULT_MARGIN

    if as_json and markdown:
        raise UsageError("--json and --markdown are both for standard output: choose one")
    place = _summary(summary)
    _, results = read_campaigns("gate", directories, control)
    gate = judge(build.build_report(results), limit if limit is not None else results.margin or DEFAULT_MARGIN)
    if junit is not None:
        write_file(junit, documents.render_junit(gate))
    if place is not None:
        write_file(place, page.render(gate), append=True)
    if as_json:
        write(documents.render_json(gate))
    elif markdown:
        write(page.render(gate))
    else:
        echo(text.render(gate, min(shutil.get_terminal_size((80, 24)).columns, 100)), nl=False)
    return gate.exit_code


def _summary(wanted: str | None) -> Path | None:
    """Return the file that the summary goes to; None if there is to be none."""
    if wanted is None:
        return None
    place = wanted or os.environ.get(SUMMARY)
    if not place:
        raise UsageError(f"--github-summary: {SUMMARY} is not set, so name the file: --github-summary FILE")
    return Path(place)
